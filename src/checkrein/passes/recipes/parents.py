"""The recipes that a sub-recipe is part of, and the sub-recipes of a recipe."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.recipe import Recipe, Step
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.routes import every_step


def parents_of(recipe: Recipe, library: Library) -> list[Recipe]:
    """Every recipe and sub-recipe that names it, directly or through others; none for a recipe of its own."""
    found: list[Recipe] = []
    pending = [recipe] if recipe.is_sub_recipe else []
    while pending:
        name = pending.pop().name
        for one in _all(library):
            if one not in found and any(step.subject == name for step in placeholders(one)):
                found.append(one)
                if one.is_sub_recipe:
                    pending.append(one)
    return found


def sub_recipes(recipe: Recipe, library: Library) -> Iterator[Recipe]:
    """The sub-recipes that a recipe names, and those that they name, each once."""
    seen: set[str] = set()
    pending = [recipe]
    while pending:
        for step in placeholders(pending.pop()):
            name = str(step.subject)
            found = library.sub_recipe(name)
            if found is not None and name not in seen:
                seen.add(name)
                pending.append(found)
                yield found


def placeholders(recipe: Recipe) -> Iterator[Step]:
    return (step for step in every_step(recipe) if step.kind == "sub_recipe")


def _all(library: Library) -> Iterator[Recipe]:
    for group in (library.recipes, library.sub_recipes):
        for resolved in group.values():
            yield resolved.item
