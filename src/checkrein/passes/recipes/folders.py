"""Where a project keeps its recipes."""

from __future__ import annotations

import os

from checkrein.dialects.claude.place import chain
from checkrein.model.project import Place, Sources

FOLDERS = (os.path.join(".checkrein", "recipes"), os.path.join(".autoskillit", "recipes"))
"""Checkrein's own folder, which wins, and that of the source."""


def recipe_folders(place: Place) -> list[str]:
    """The folders that exist, those nearest to the working directory first."""
    if place.setting_sources is not None and "project" not in place.setting_sources:
        return []
    paths = (os.path.join(directory, folder) for directory in chain(place) for folder in FOLDERS)
    return [path for path in paths if os.path.isdir(path)]


def read_recipes(place: Place) -> Sources:
    found = recipe_folders(place)
    if not found:
        return Sources()
    from checkrein.dialects.codes import Log
    from checkrein.dialects.recipe.read import read_folder

    log = Log(place.within)
    recipes = tuple(recipe for folder in found for recipe in read_folder(folder, "project", log))
    return Sources(recipes=recipes, diagnostics=tuple(log))
