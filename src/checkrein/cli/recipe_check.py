"""`checkrein recipe check`: what is wrong with recipes. An error forbids to run one."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.cli.recipe_shelf import ERRORS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG


class Payload(Struct, frozen=True):
    """`recipes` are the names that were checked, `invalid` those that can't run."""

    recipes: tuple[str, ...]
    invalid: tuple[str, ...]
    findings: tuple[Diagnostic, ...]
    counts: dict[str, int]


COMMAND = Command(
    name="recipe check",
    summary="Report what is wrong with recipes; one with an error does not run.",
    args=(
        Arg(
            name="names",
            multiple=True,
            metavar="RECIPE",
            complete="recipes",
            help="Names or files; without any, all recipes of the project.",
        ),
        PROJECT_ARG,
        Arg(name="bundled", flags=("--bundled",), type="bool", help="Also those that Checkrein brings."),
    ),
    payload=Payload,
    errors=ERRORS,
    exits=((0, "every recipe can run"), (1, "errors were found"), (2, "wrong usage")),
    examples=(
        ("checkrein recipe check", "all recipes of this project"),
        ("checkrein recipe check implement", "one of them, also a bundled one"),
    ),
)


def run(names: tuple[str, ...], project: str, bundled: bool) -> Outcome:
    from checkrein.base.diagnostic import count
    from checkrein.cli.recipe_shelf import library, recipes_of
    from checkrein.passes.findings import sort
    from checkrein.passes.recipes.validity import errors, problems

    shelf = library(project, *names)
    chosen = recipes_of(shelf, names, bundled=bundled)
    found = {id(one): problems(one, shelf) for one in chosen}
    loose = [] if names else [one for one in shelf.diagnostics if one.code.startswith(("RECIPE", "FILE"))]
    findings = sort([*loose, *(finding for group in found.values() for finding in group)])
    payload = Payload(
        tuple(one.name for one in chosen),
        tuple(one.name for one in chosen if errors(found[id(one)])),
        tuple(findings),
        count(findings),
    )

    def text() -> str:
        from checkrein.cli import recipe_pages

        return recipe_pages.checked(payload)

    return Outcome(data=payload, text=text, status=1 if payload.counts["error"] else 0)
