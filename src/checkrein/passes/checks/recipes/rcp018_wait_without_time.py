"""Waits that say neither how long nor until when."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import placed

_FORMS = ("seconds", "until")


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        step = part.step
        if step.kind == "wait" and sum(form in step.with_args for form in _FORMS) != 1:
            message = f"The step `{step.name}` needs `with: {{seconds: N}}` or `with: {{until: TIME}}`"
            yield Finding(origin=step.origin, message=message)


CHECK = Check(
    code="RCP018",
    name="wait-without-time",
    severity="error",
    summary="A `wait` step does not have exactly one of `seconds` and `until`.",
    why="The run would wait for ever, or not at all.",
    hint="Write one of the two under `with`.",
    bad={RECIPE: recipe("  pause: {action: wait, with: {minutes: 5}}\n", TEST)},
    good={RECIPE: recipe("  pause: {action: wait, with: {seconds: 300}}\n", TEST)},
    run=run,
)
