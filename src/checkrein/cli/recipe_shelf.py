"""The recipe that a command is about: its argument, and the library it is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.cli.registry import Arg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checkrein.model.recipe import Recipe
    from checkrein.passes.recipes.library import Library

RECIPE_ARG = Arg(
    name="name",
    required=True,
    metavar="RECIPE",
    complete="recipes",
    help="The name of a recipe, or its file.",
)
INPUT_ARG = Arg(
    name="input_",
    flags=("--input", "-i"),
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of an input; repeat it for each.",
)
ERRORS = ("project_not_found", "recipe_not_found")


def library(project: str, *names: str) -> Library:
    """The recipes of a project; names that are files are read too, and win."""
    import os

    from checkrein.cli.target import require
    from checkrein.passes.load import load
    from checkrein.passes.recipes.library import library_of

    require(project)
    files = [
        os.path.abspath(name) for name in names if name.endswith((".yaml", ".yml")) and os.path.isfile(name)
    ]
    return library_of(load(project), *files)


def recipes_of(shelf: Library, names: Sequence[str], *, bundled: bool = False) -> list[Recipe]:
    """The named recipes; without names all of the project, and with `bundled` those that Checkrein brings."""
    if names:
        return [recipe_of(shelf, name) for name in names]
    every = (one.item for group in (shelf.recipes, shelf.sub_recipes) for one in group.values())
    return [one for one in every if bundled or one.origin.scope != "bundled"]


def recipe_of(shelf: Library, name: str) -> Recipe:
    """A recipe or a sub-recipe by its name or file. Raises NotFoundError, with the reason where the file is
    broken."""
    import os

    from checkrein.base.errors import NotFoundError
    from checkrein.base.nearest import did_you_mean

    real = os.path.realpath(name)
    every = [one for group in (shelf.recipes, shelf.sub_recipes) for one in group.values()]
    for resolved in every:
        if resolved.name == name or any(
            os.path.realpath(candidate.item.origin.file) == real for candidate in resolved.candidates
        ):
            named = (
                one.item for one in resolved.candidates if os.path.realpath(one.item.origin.file) == real
            )
            return next(named, resolved.item)
    broken = next(
        (
            one
            for one in shelf.diagnostics
            if name in (one.origin.file, _stem(one.origin.file)) or one.origin.file == real
        ),
        None,
    )
    if broken is not None:
        raise NotFoundError(
            f"The recipe {name!r} can't be read: {broken.message}.",
            kind="recipe_not_found",
            hint=broken.hint,
            origin=broken.origin,
        )
    raise NotFoundError(
        f"There is no recipe {name!r}.{did_you_mean(name, [one.name for one in every])}",
        kind="recipe_not_found",
        hint="`checkrein recipe list` names all recipes.",
    )


def inputs_of(given: tuple[str, ...]) -> dict[str, str]:
    """`NAME=VALUE` as names and values. Raises UsageError for anything else."""
    from checkrein.base.errors import UsageError

    found: dict[str, str] = {}
    for one in given:
        name, equal, value = one.partition("=")
        if not equal or not name.strip():
            raise UsageError(f"--input takes NAME=VALUE, not {one!r}.")
        if any("\ud800" <= character <= "\udfff" for character in one):
            raise UsageError(f"--input {name.strip()!r} is not UTF-8 text.")
        found[name.strip()] = value
    return found


def _stem(file: str) -> str:
    import os

    return os.path.splitext(os.path.basename(file))[0]


def require_own(recipe: Recipe) -> None:
    """What Checkrein brings is never changed."""
    from checkrein.base.errors import PolicyError

    if recipe.origin.scope == "bundled":
        raise PolicyError(
            f"The recipe {recipe.name!r} is part of Checkrein and stays as it is.",
            kind="recipe_not_own",
            hint="Copy it to `.checkrein/recipes/` and change the copy.",
            origin=recipe.origin,
        )


def write_beside(recipe: Recipe, file: str, text: str) -> str:
    """Write a file that belongs to a recipe of the project; gives its path."""
    import os
    from pathlib import Path

    from checkrein.base.errors import PolicyError
    from checkrein.base.files import write_atomic

    require_own(recipe)
    folder = os.path.dirname(file)
    os.makedirs(folder, exist_ok=True)
    expected = os.path.join(os.path.realpath(os.path.dirname(recipe.origin.file)), os.path.basename(folder))
    if os.path.realpath(folder) != expected:
        message = f"{folder} is a link that leads elsewhere; nothing is written there."
        raise PolicyError(message, kind="recipe_not_own", hint="Replace it with a folder.")
    write_atomic(Path(file), text)
    return file
