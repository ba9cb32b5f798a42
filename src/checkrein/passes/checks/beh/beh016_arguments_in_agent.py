"""`$ARGUMENTS` stands in the text of an agent definition."""

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
    summary="`$ARGUMENTS` stands in the text of an agent definition.",
    why="The text becomes a system prompt, in which nothing is replaced.",
    hint="Say in words what the agent is given.",
    bad=command("behavior:\n  execution: agent\n", "Look at $ARGUMENTS.\n"),
    good=command("behavior:\n  execution: isolated\n", "Look at $ARGUMENTS.\n"),
    run=run,
)
