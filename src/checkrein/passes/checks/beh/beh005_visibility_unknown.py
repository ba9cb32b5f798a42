"""`behavior.visibility` has a value that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH005")


CHECK = Check(
    code="BEH005",
    name="visibility-unknown",
    severity="error",
    summary="`behavior.visibility` has a value that does not exist.",
    why="Each agent's default then decides who sees the item.",
    hint="Use user, model or both.",
    bad=command("behavior:\n  visibility: nobody\n", "Look at the diff.\n"),
    good=command("behavior:\n  visibility: both\n", "Look at the diff.\n"),
    run=run,
)
