"""`checkrein recipe list`: the recipes that a project can run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.origin import Origin, Scope
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.model.recipe import RecipeKind

if TYPE_CHECKING:
    from checkrein.model.recipe import Recipe
    from checkrein.passes.recipes.library import Library


class RecipeRow(Struct, frozen=True, kw_only=True):
    """`shadows` counts other recipes of that name; with `errors` the recipe does not run."""

    name: str
    kind: RecipeKind
    description: str
    scope: Scope
    origin: Origin
    steps: int
    inputs: tuple[str, ...]
    errors: int
    warnings: int
    is_sub_recipe: bool = False
    shadows: int = 0


class Payload(Struct, frozen=True):
    recipes: tuple[RecipeRow, ...]


COMMAND = Command(
    name="recipe list",
    summary="List the recipes that a project can run: its own and those that Checkrein brings.",
    args=(
        PROJECT_ARG,
        Arg(name="all_", flags=("--all", "-a"), type="bool", help="Also list sub-recipes."),
    ),
    payload=Payload,
    errors=("project_not_found",),
    examples=(("checkrein recipe list", "the recipes here, and whether they can run"),),
)


def run(project: str, all_: bool) -> Outcome:
    from checkrein.cli.recipe_shelf import library

    shelf = library(project)
    groups = (shelf.recipes, shelf.sub_recipes) if all_ else (shelf.recipes,)
    rows = tuple(
        _row(one.item, len(one.shadowed), shelf)
        for group in groups
        for one in sorted(group.values(), key=_name)
    )
    payload = Payload(rows)

    def text() -> str:
        from checkrein.cli import recipe_pages

        return recipe_pages.table(rows)

    broken = tuple(one for one in shelf.diagnostics if one.code in ("RECIPE001", "FILE001", "FILE003"))
    return Outcome(data=payload, text=text, warnings=broken)


def _name(resolved: object) -> str:
    return str(getattr(resolved, "name", ""))


def _row(recipe: Recipe, shadows: int, shelf: Library) -> RecipeRow:
    from checkrein.base.diagnostic import count
    from checkrein.passes.recipes.validity import problems

    found = count(problems(recipe, shelf))
    return RecipeRow(
        name=recipe.name,
        kind=recipe.kind,
        description=recipe.description or recipe.summary,
        scope=recipe.origin.scope,
        origin=recipe.origin,
        steps=len(recipe.steps) or len(recipe.dispatches),
        inputs=tuple(one.name for one in recipe.ingredients if one.required),
        errors=found["error"],
        warnings=found["warning"],
        is_sub_recipe=recipe.is_sub_recipe,
        shadows=shadows,
    )
