"""The plan of a recipe of a project, or the error that says why there is none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import NotFoundError, RunError
from checkrein.base.nearest import did_you_mean
from checkrein.model.recipe_plan import Plan
from checkrein.passes.load import load
from checkrein.passes.recipes.library import library_of
from checkrein.passes.recipes.plan import plan
from checkrein.passes.recipes.surroundings import surroundings_of


class Enabling(Struct, frozen=True):
    """What a person switches on for one run: everything that it needs (`once`), or these subsets."""

    once: bool = False
    subsets: tuple[str, ...] = ()


NOTHING = Enabling()


def plan_of(name: str, project: str, inputs: Mapping[str, Any], enabling: Enabling = NOTHING) -> Plan:
    """`name` is that of a recipe, or the path of its file."""
    files = (os.path.abspath(name),) if os.path.isfile(name) else ()
    library = library_of(load(project, bundled=True), *files)
    named = (one.item for one in library.recipes.values() if files and one.item.origin.file == files[0])
    found = next(named, library.recipe(name))
    if found is None:
        raise NotFoundError(
            f"There is no recipe {name!r}.{did_you_mean(name, library.recipes)}",
            kind="recipe_not_found",
            hint="Recipes are in .checkrein/recipes; a path names a file.",
        )
    around = replace(surroundings_of(library.project), enable_once=enabling.once, enabled=enabling.subsets)
    made = plan(found, library, inputs, around)
    if isinstance(made, Plan):
        return made
    more = f" ({len(made)} errors)" if len(made) > 1 else ""
    error = RunError(
        f"{found.name} can't run: {made[0].message}{more}",
        kind="recipe_invalid",
        hint=made[0].hint or "`checkrein check` shows all findings.",
        origin=made[0].origin,
    )
    error.details["diagnostics"] = [f"{one.origin}: {one.message}" for one in made]
    raise error


class ProjectRecipes:
    """The recipes that a campaign dispatches: those of the directory that it was started in. They have what
    was switched on for the campaign, and no more."""

    def __init__(self, project: str, enabled: tuple[str, ...]) -> None:
        self._project = project
        self._enabling = Enabling(subsets=enabled)

    def plan(self, recipe: str, inputs: dict[str, Any]) -> Plan:
        return plan_of(recipe, self._project, inputs, self._enabling)
