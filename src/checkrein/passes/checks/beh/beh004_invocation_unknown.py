"""`behavior.invocation` has a value that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH004")


CHECK = Check(
    code="BEH004",
    name="invocation-unknown",
    severity="error",
    summary="`behavior.invocation` has a value that does not exist.",
    why="Each agent's default then decides whether the model may start the item.",
    hint="Use explicit or automatic.",
    bad=command("behavior:\n  invocation: maybe\n", "Look at the diff.\n"),
    good=command("behavior:\n  invocation: explicit\n", "Look at the diff.\n"),
    run=run,
)
