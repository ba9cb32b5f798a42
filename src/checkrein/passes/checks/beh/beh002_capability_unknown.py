"""`behavior.capability` has a value that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH002")


CHECK = Check(
    code="BEH002",
    name="capability-unknown",
    severity="error",
    summary="`behavior.capability` has a value that does not exist.",
    why="No agent gets a model for it.",
    hint="Use fast, balanced or strong.",
    bad=command("behavior:\n  capability: huge\n", "Look at the diff.\n"),
    good=command("behavior:\n  capability: strong\n", "Look at the diff.\n"),
    run=run,
)
