"""Nobody can start the item."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH019")


CHECK = Check(
    code="BEH019",
    name="unreachable",
    severity="error",
    summary="Nobody can start the item.",
    why="`invocation: explicit` keeps the model out, and `visibility: model` keeps the user out.",
    hint="Change one of the two.",
    bad=command("behavior:\n  invocation: explicit\n  visibility: model\n", "Look at the diff.\n"),
    good=command("behavior:\n  invocation: explicit\n  visibility: both\n", "Look at the diff.\n"),
    run=run,
)
