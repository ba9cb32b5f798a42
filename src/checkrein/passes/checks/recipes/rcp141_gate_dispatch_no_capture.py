"""Gates that capture."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import dispatched

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"
_GATE = "- {name: ask, gate: confirm, message: Go on?}\n"


def run(subject: Subject) -> Iterator[Finding]:
    for _, dispatch in dispatched(subject):
        if dispatch.gate is not None and dispatch.capture:
            message = f"The gate `{dispatch.name}` has no result to capture"
            yield Finding(origin=field(dispatch, "capture"), message=message)


CHECK = Check(
    code="RCP141",
    name="gate-dispatch-no-capture",
    severity="error",
    summary="A gate captures a value.",
    why="A gate has no result: a person says yes or no.",
    hint="Remove `capture`.",
    bad=campaign(_FIRST + _GATE.replace("}", ", capture: {answer: '${{ result.answer }}'}}")),
    good=campaign(_FIRST + _GATE),
    run=run,
)
