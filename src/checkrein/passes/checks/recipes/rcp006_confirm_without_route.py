"""Questions whose answer leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import OVER, RECIPE, recipe
from checkrein.passes.checks.recipe_parts import placed


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        step = part.step
        if step.kind != "confirm":
            continue
        for field, answer in (("on_success", "yes"), ("on_failure", "no")):
            if getattr(step, field) is None:
                message = f"The step `{step.name}` does not say where the answer {answer} leads: `{field}`"
                yield Finding(origin=step.origin, message=message)


CHECK = Check(
    code="RCP006",
    name="confirm-without-route",
    severity="error",
    summary="A `confirm` step lacks `on_success` or `on_failure`.",
    why="A person's answer must lead to a step that was named on purpose.",
    hint="Add both routes.",
    bad={RECIPE: recipe('  ask: {action: confirm, message: "Ready?", on_success: over}\n', ends=OVER)},
    good={
        RECIPE: recipe('  ask: {action: confirm, message: "Ready?", on_success: over, on_failure: failed}\n')
    },
    run=run,
)
