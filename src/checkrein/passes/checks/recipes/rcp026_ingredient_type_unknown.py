"""Types of inputs that nothing checks."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, ingredients, recipe
from checkrein.passes.checks.recipe_parts import recipes
from checkrein.passes.recipes.inputs import TYPES, has_type

_ENTRY = 'parts: {description: How many parts, type: %s, default: "%s"}'


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        for ingredient in one.ingredients:
            if ingredient.type not in TYPES:
                message = f"`{ingredient.type}` is no type of an input; known: {', '.join(TYPES)}"
                yield Finding(origin=ingredient.where("type"), message=message)
            elif ingredient.default and not has_type(ingredient, ingredient.default):
                message = f"The default `{ingredient.default}` is not {ingredient.type}"
                yield Finding(origin=ingredient.where("default"), message=message)


CHECK = Check(
    code="RCP026",
    name="ingredient-type-unknown",
    severity="error",
    summary="An input has a type that does not exist, or a default of another type.",
    why="Wrong values reach the steps, or no run can start.",
    hint="Use one of the known types and a default that has it.",
    bad={RECIPE: recipe(head=ingredients(_ENTRY % ("integer", "many")))},
    good={RECIPE: recipe(head=ingredients(_ENTRY % ("integer", "3")))},
    run=run,
)
