"""Ends and questions without a text."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import FAILED, RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import placed


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        step = part.step
        if step.kind in ("stop", "confirm") and not (step.message or "").strip():
            yield Finding(origin=step.origin, message=f"The step `{step.name}` ({step.kind}) has no message")


CHECK = Check(
    code="RCP005",
    name="message-missing",
    severity="error",
    summary="A `stop` or `confirm` step has no `message`.",
    why="The run ends without a reason, or a person is asked to approve something unnamed.",
    hint="Add `message:`.",
    bad={RECIPE: recipe(TEST.replace("over", "well"), "  well: {action: stop}\n", ends=FAILED)},
    good={
        RECIPE: recipe(
            TEST.replace("over", "well"), "  well: {action: stop, message: All is well.}\n", ends=FAILED
        )
    },
    run=run,
)
