"""References to inputs that the recipe does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.model.expression import condition_references, references
from checkrein.model.recipe import Recipe
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, ingredients, recipe
from checkrein.passes.checks.recipe_parts import placed, texts
from checkrein.passes.recipes.parents import parents_of

_TEST = TEST.replace("path: .", 'path: "${{ inputs.place }}"')


def run(subject: Subject) -> Iterator[Finding]:
    declared: dict[str, set[str]] = {}
    for part in placed(subject):
        file = part.recipe.origin.file
        if file not in declared:
            declared[file] = _declared(subject, part.recipe)
        for said in texts(part.step):
            found = condition_references(said.text) if said.is_condition else references(said.text)
            for one in found:
                if one.namespace == "inputs" and one.name not in declared[file]:
                    origin = subject.find(said.origin, f"inputs.{one.name}")
                    meant = nearest(one.name, declared[file], 0.75)
                    fix = (
                        edits.respell(subject, origin, f"inputs.{one.name}", f"inputs.{meant}")
                        if meant
                        else None
                    )
                    message = f"The recipe has no input `{one.name}`"
                    yield Finding(origin=origin, message=message, fix=fix)


def _declared(subject: Subject, recipe: Recipe) -> set[str]:
    """The recipe's own inputs; those of a sub-recipe are also those of the recipes that it is part of."""
    family = [recipe, *parents_of(recipe, subject.library)]
    return {ingredient.name for one in family for ingredient in one.ingredients}


CHECK = Check(
    code="RCP013",
    name="input-undeclared",
    severity="error",
    summary="An expression refers to an input that the recipe does not declare.",
    why="The expression never has a value, so the step fails.",
    hint="Add it to `ingredients`, or correct the name.",
    bad={RECIPE: recipe(_TEST, head=ingredients("plaze: {description: Where to test, default: .}"))},
    good={RECIPE: recipe(_TEST, head=ingredients("place: {description: Where to test, default: .}"))},
    run=run,
    fixable=True,
)
