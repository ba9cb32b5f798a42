"""Dispatches that wait for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import dispatched, meant

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"
_SECOND = "- {name: second, recipe: repair, task: Mend more, depends_on: [BEFORE]}\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case, dispatch in dispatched(subject):
        known = [one.name for one in case.recipe.dispatches]
        for name in dispatch.depends_on:
            if name not in known:
                yield Finding(
                    origin=field(dispatch, "depends_on"),
                    message=f"`{dispatch.name}` waits for `{name}`, which is no dispatch",
                    hint=meant(name, known),
                )


CHECK = Check(
    code="RCP130",
    name="depends-on-refers-to-valid-dispatches",
    severity="error",
    summary="`depends_on` names a dispatch that is not there.",
    why="The dispatch can never start.",
    hint="Name a dispatch of the campaign.",
    bad=campaign(_FIRST + _SECOND.replace("BEFORE", "frist")),
    good=campaign(_FIRST + _SECOND.replace("BEFORE", "first")),
    run=run,
)
