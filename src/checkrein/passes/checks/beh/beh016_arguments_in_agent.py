"""The text of an agent definition holds `$ARGUMENTS`."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH016")


CHECK = Check(
    code="BEH016",
    name="arguments-in-agent",
    severity="warning",
    summary="The text of an agent definition holds `$ARGUMENTS`.",
    why="The text becomes a system prompt. Nothing replaces the placeholder there.",
    hint="Describe in words what the agent gets.",
    bad=command("behavior:\n  execution: agent\n", "Look at $ARGUMENTS.\n"),
    good=command("behavior:\n  execution: isolated\n", "Look at $ARGUMENTS.\n"),
    run=run,
)
