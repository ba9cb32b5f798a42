"""`behavior.effort` has a value that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH003")


CHECK = Check(
    code="BEH003",
    name="effort-unknown",
    severity="error",
    summary="`behavior.effort` has a value that does not exist.",
    why="Deploy leaves the effort out of every file.",
    hint="Use low, medium, high or max.",
    bad=command("behavior:\n  effort: extreme\n", "Look at the diff.\n"),
    good=command("behavior:\n  effort: max\n", "Look at the diff.\n"),
    run=run,
)
