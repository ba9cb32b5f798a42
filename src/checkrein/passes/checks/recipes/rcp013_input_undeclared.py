"""References to inputs that the recipe does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.model.expression import condition_references, references
from checkrein.model.recipe import Recipe
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, ingredients, recipe
from checkrein.passes.checks.recipe_parts import Said, every_text, recipes
from checkrein.passes.recipes.parents import parents_of

_TEST = TEST.replace("path: .", 'path: "${{ inputs.place }}"')


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        declared = _declared(subject, one)
        for said in every_text(one):
            found = condition_references(said.text) if said.is_condition else references(said.text)
            for reference in found:
                if reference.namespace == "inputs" and reference.name not in declared:
                    yield _finding(subject, said, reference.name, declared)


def _finding(subject: Subject, said: Said, name: str, declared: set[str]) -> Finding:
    origin = subject.find(said.origin, f"inputs.{name}")
    meant = nearest(name, declared, 0.75)
    fix = edits.respell(subject, origin, f"inputs.{name}", f"inputs.{meant}") if meant else None
    return Finding(origin=origin, message=f"The recipe has no input `{name}`", fix=fix)


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
