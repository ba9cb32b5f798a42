"""Steps with two answers to what comes next."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import placed

_ROUTES = '    on_result:\n      - {when: "${{ result.passed }}", route: over}\n      - {route: failed}\n'


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        step = part.step
        if "on_result" in step.spans and step.on_success is not None:
            message = f"The step `{step.name}` has `on_result` and `on_success`; only one can decide"
            yield Finding(origin=step.where("on_success"), message=message)


CHECK = Check(
    code="RCP010",
    name="result-and-success",
    severity="error",
    summary="A step has both `on_result` and `on_success`.",
    why="Both say where a success leads, and they can differ.",
    hint="Make `on_success` the last route of `on_result`, without a condition.",
    bad={RECIPE: recipe(TEST + _ROUTES)},
    good={RECIPE: recipe(TEST.replace("    on_success: over\n", "") + _ROUTES)},
    run=run,
)
