"""Empty lists of routes."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import placed

_HEAD = TEST.replace("    on_success: over\n", "")


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        step = part.step
        if "on_result" in step.spans and not step.on_result and "on_result" not in step.unknown:
            message = f"`on_result` of the step `{step.name}` has no routes"
            yield Finding(origin=step.where("on_result"), message=message)


CHECK = Check(
    code="RCP011",
    name="result-without-route",
    severity="error",
    summary="`on_result` has no routes.",
    why="No result leads anywhere.",
    hint="Add routes, or write `on_success` instead.",
    bad={RECIPE: recipe(_HEAD + "    on_result: []\n")},
    good={RECIPE: recipe(_HEAD + "    on_result: [{route: over}]\n")},
    run=run,
)
