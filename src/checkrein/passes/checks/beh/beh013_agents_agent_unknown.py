"""`agents` names an agent that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH013")


CHECK = Check(
    code="BEH013",
    name="agents-agent-unknown",
    severity="warning",
    summary="`agents` names an agent that does not exist.",
    why="Nobody reads the section.",
    hint="`checkrein deploy --list` prints the agents.",
    bad=command("agents:\n  cloude:\n    color: red\n", "Look at the diff.\n"),
    good=command("agents:\n  claude:\n    color: red\n", "Look at the diff.\n"),
    run=run,
)
