"""`behavior.tools` names a tool that Claude Code does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH009")


CHECK = Check(
    code="BEH009",
    name="tool-not-in-catalogue",
    severity="warning",
    summary="`behavior.tools` names a tool that Claude Code does not have.",
    why="Deploy writes tool names unchanged, so a misspelt one approves nothing.",
    hint="Correct the name.",
    bad=command("behavior:\n  tools: [Read, Grepp]\n", "Look at the diff.\n"),
    good=command("behavior:\n  tools: [Read, Grep]\n", "Look at the diff.\n"),
    run=run,
)
