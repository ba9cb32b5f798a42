"""Captures that no expression can name."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.recipe_cases import dispatched

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for _, dispatch in dispatched(subject):
        for name in dispatch.capture:
            if not (name.isascii() and name.isidentifier()):
                message = f"`{dispatch.name}` captures `{name}`, which no expression can name"
                yield Finding(origin=dispatch.where(f"capture.{name}"), message=message)


CHECK = Check(
    code="RCP134",
    name="dispatch-capture-keys-are-identifiers",
    severity="error",
    summary="A captured name of a dispatch is no identifier.",
    why="`${{ campaign.NAME }}` can't name it.",
    hint="Use letters, digits and `_`.",
    bad=campaign(_FIRST + "  capture: {'the sha': '${{ result.sha }}'}\n"),
    good=campaign(_FIRST + "  capture: {the_sha: '${{ result.sha }}'}\n"),
    run=run,
)
