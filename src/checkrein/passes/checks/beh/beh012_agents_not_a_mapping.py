"""`agents`, or the section of one agent, is not a list of `field: value`."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH012")


CHECK = Check(
    code="BEH012",
    name="agents-not-a-mapping",
    severity="error",
    summary="`agents`, or the section of one agent, is not a list of `field: value`.",
    why="Checkrein reads none of it.",
    hint="Write `agents:`, below it the agent, below that the fields.",
    bad=command("agents: [claude]\n", "Look at the diff.\n"),
    good=command("agents:\n  claude:\n    color: red\n", "Look at the diff.\n"),
    run=run,
)
