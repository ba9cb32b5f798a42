"""All recipes that a project can run: its own and those that Checkrein brings; the project's win."""

from __future__ import annotations

import os
from functools import cache

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import beneath
from checkrein.dialects.codes import Log
from checkrein.dialects.recipe.read import read_file, read_folder
from checkrein.model.project import Project, Resolved, Sources
from checkrein.model.recipe import Recipe
from checkrein.passes.recipes.folders import read_recipes, recipe_folders
from checkrein.passes.resolve import names
from checkrein.passes.visibility.bundled_skills import PLUGIN

BUNDLED = os.fspath(PLUGIN / "recipes")


class Library(Struct, frozen=True, kw_only=True):
    """Recipes by name, with what each shadows. `diagnostics` are those of reading."""

    project: Project
    recipes: dict[str, Resolved[Recipe]]
    sub_recipes: dict[str, Resolved[Recipe]]
    diagnostics: tuple[Diagnostic, ...] = ()

    def recipe(self, name: str) -> Recipe | None:
        found = self.recipes.get(name)
        return None if found is None else found.item

    def sub_recipe(self, name: str) -> Recipe | None:
        found = self.sub_recipes.get(name)
        return None if found is None else found.item

    def problems(self, recipe: Recipe) -> tuple[Diagnostic, ...]:
        """What was wrong when the recipe's file was read."""
        return tuple(one for one in self.diagnostics if one.origin.file == recipe.origin.file)


def library_of(project: Project, *files: str) -> Library:
    """The library of a project. `files` are recipe files from elsewhere, which win over all others."""
    own = _own(project)
    log = Log(project.place.within)
    known = {os.path.realpath(one.origin.file) for one in own.recipes}
    known |= {os.path.realpath(one.origin.file) for one in own.diagnostics}
    new = [file for file in files if os.path.realpath(file) not in known]
    named = tuple(one for file in new if (one := read_file(file, "cli", log)) is not None)
    every = Sources(recipes=named, diagnostics=tuple(log)) + own + bundled_recipes()
    return Library(
        project=project,
        recipes=names.recipes(one for one in every.recipes if not one.is_sub_recipe),
        sub_recipes=names.recipes(one for one in every.recipes if one.is_sub_recipe),
        diagnostics=every.diagnostics,
    )


def _own(project: Project) -> Sources:
    """The recipes that were loaded with the project, and what was wrong with them; a session loads none."""
    if not project.sources.recipes:
        return read_recipes(project.place)
    folders = recipe_folders(project.place)
    found = project.sources.diagnostics
    about = tuple(one for one in found if any(beneath(one.origin.file, folder) for folder in folders))
    return Sources(recipes=project.sources.recipes, diagnostics=about)


@cache
def bundled_recipes() -> Sources:
    log = Log()
    found = read_folder(BUNDLED, "bundled", log)
    return Sources(recipes=found, diagnostics=tuple(log))
