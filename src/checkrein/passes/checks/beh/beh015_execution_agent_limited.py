"""Not every agent supports `execution: agent`."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH015")


CHECK = Check(
    code="BEH015",
    name="execution-agent-limited",
    severity="error",
    summary="Not every agent supports `execution: agent`.",
    why="Only Claude Code and Copilot take a command as an agent definition. Other agents refuse it.",
    hint="Deploy with --degrade, or only to those two.",
    bad=command("behavior:\n  execution: agent\n", "Look at the diff.\n"),
    good=command("behavior:\n  execution: isolated\n", "Look at the diff.\n"),
    run=run,
    profile="strict",
)
