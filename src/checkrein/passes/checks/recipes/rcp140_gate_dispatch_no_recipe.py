"""Gates that also run a recipe."""

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
        if dispatch.gate is not None and dispatch.recipe is not None:
            message = f"The gate `{dispatch.name}` never runs its recipe `{dispatch.recipe}`"
            yield Finding(origin=field(dispatch, "recipe"), message=message)


CHECK = Check(
    code="RCP140",
    name="gate-dispatch-no-recipe",
    severity="error",
    summary="A gate names a recipe.",
    why="A gate only asks a person; its recipe is never run.",
    hint="Make two dispatches of it.",
    bad=campaign(_FIRST + _GATE.replace("gate:", "recipe: repair, task: Mend it, gate:")),
    good=campaign(_FIRST + _GATE),
    run=run,
)
