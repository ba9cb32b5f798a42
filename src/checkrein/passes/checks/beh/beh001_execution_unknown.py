"""`behavior.execution` has a value that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH001")


CHECK = Check(
    code="BEH001",
    name="execution-unknown",
    severity="error",
    summary="`behavior.execution` has a value that does not exist.",
    why="Deploy would write the item as a plain command, even if you meant something else.",
    hint="Use command, isolated or agent.",
    bad=command("behavior:\n  execution: teleport\n", "Look at the diff.\n"),
    good=command("behavior:\n  execution: isolated\n", "Look at the diff.\n"),
    run=run,
)
