"""Gates that ask nothing."""

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
        if dispatch.gate is not None and not (dispatch.message or "").strip():
            yield Finding(
                origin=field(dispatch, "gate"), message=f"The gate `{dispatch.name}` has no message"
            )


CHECK = Check(
    code="RCP139",
    name="gate-dispatch-has-message",
    severity="error",
    summary="A gate has no message.",
    why="A person is asked to say yes or no to nothing.",
    hint="Say in `message` what the person decides.",
    bad=campaign(_FIRST + _GATE.replace(", message: Go on?", "")),
    good=campaign(_FIRST + _GATE),
    run=run,
)
