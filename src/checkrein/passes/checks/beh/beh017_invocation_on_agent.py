"""`invocation` or `visibility` is set for an agent definition."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH017")


CHECK = Check(
    code="BEH017",
    name="invocation-on-agent",
    severity="warning",
    summary="`invocation` or `visibility` is set for an agent definition.",
    why="An agent definition has neither, so deploy leaves the field out.",
    hint="Remove it.",
    bad=command("behavior:\n  execution: agent\n  invocation: explicit\n", "Look at the diff.\n"),
    good=command("behavior:\n  execution: isolated\n  invocation: explicit\n", "Look at the diff.\n"),
    run=run,
)
