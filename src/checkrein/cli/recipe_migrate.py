"""`checkrein recipe migrate`: old forms of recipes in the present form."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.recipe_shelf import ERRORS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG


class Change(Struct, frozen=True):
    """`applied` are the ids of the migrations."""

    file: str
    applied: tuple[str, ...]
    diff: str


class Payload(Struct, frozen=True):
    changes: tuple[Change, ...]
    written: bool


COMMAND = Command(
    name="recipe migrate",
    summary="Bring recipes to the present form: show the diff, and write it only when told.",
    args=(
        Arg(
            name="names",
            multiple=True,
            metavar="RECIPE",
            complete="recipes",
            help="Names or files; without any, all recipes of the project.",
        ),
        PROJECT_ARG,
        Arg(name="write", flags=("--write",), type="bool", help="Write the changes."),
    ),
    payload=Payload,
    errors=(*ERRORS, "recipe_not_own"),
    examples=(
        ("checkrein recipe migrate", "what would change in this project"),
        ("checkrein recipe migrate --write", "and change it"),
    ),
)


def run(names: tuple[str, ...], project: str, write: bool) -> Outcome:
    import os
    from pathlib import Path

    from checkrein.base.files import read_text, write_atomic
    from checkrein.cli.recipe_shelf import library, recipes_of, require_own
    from checkrein.passes.recipes.migrations import migrate, migration_diff

    shelf = library(project, *names)
    chosen = recipes_of(shelf, names)
    changes = []
    for recipe in chosen:
        require_own(recipe)
        file = recipe.origin.file
        before = read_text(file, within=shelf.project.place.within).text
        found = migrate(before)
        if not found.applied:
            continue
        name = os.path.relpath(file, shelf.project.place.root)
        changes.append(Change(file, found.applied, migration_diff(before, found.text, name)))
        if write:
            write_atomic(Path(file), found.text)
    payload = Payload(tuple(changes), write)

    def text() -> str:
        if not changes:
            return "Every recipe has the present form."
        told = "".join(one.diff for one in changes)
        return f"{told}{'Written.' if write else 'Nothing is written; --write does it.'}"

    return Outcome(data=payload, text=text)
