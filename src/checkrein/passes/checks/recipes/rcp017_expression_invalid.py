"""Texts that look like expressions and are none."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.expression import Failure, parse, parse_condition
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, ingredients, recipe
from checkrein.passes.checks.recipe_parts import every_text, recipes

_INPUT = ingredients("place: {description: Where to test, default: .}")


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        for said in every_text(one):
            found = parse_condition(said.text) if said.is_condition else parse(said.text)
            if isinstance(found, Failure):
                origin = subject.find(
                    said.origin, found.expression.splitlines()[0] if found.expression else ""
                )
                message = f"`{found.expression}` in `{said.field}` is not an expression: {found.message}"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="RCP017",
    name="expression-invalid",
    severity="error",
    summary="An expression can't be read.",
    why="It never has a value, so the step fails.",
    hint="docs/recipes.md has the grammar; write `$${{` for a plain `${{`.",
    bad={RECIPE: recipe(TEST.replace("path: .", 'path: "${{ inputs.place | upper }}"'), head=_INPUT)},
    good={RECIPE: recipe(TEST.replace("path: .", 'path: "${{ inputs.place | trim }}"'), head=_INPUT)},
    run=run,
)
