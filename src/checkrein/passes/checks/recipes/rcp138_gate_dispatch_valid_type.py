"""Gates of an unknown kind."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import dispatched

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"
_GATE = "- {name: ask, gate: confirm, message: Go on?}\n"


_CONFIRM = "confirm"


def run(subject: Subject) -> Iterator[Finding]:
    for _, dispatch in dispatched(subject):
        if dispatch.gate is not None and dispatch.gate != _CONFIRM:
            message = f"The gate of `{dispatch.name}` is `{dispatch.gate}`; there is only `{_CONFIRM}`"
            yield Finding(origin=field(dispatch, "gate"), message=message)


CHECK = Check(
    code="RCP138",
    name="gate-dispatch-valid-type",
    severity="error",
    summary="The gate of a dispatch is not `confirm`.",
    why="Nobody knows how to pass it.",
    hint="Write `gate: confirm`.",
    bad=campaign(_FIRST + _GATE.replace("confirm", "approve")),
    good=campaign(_FIRST + _GATE),
    run=run,
)
