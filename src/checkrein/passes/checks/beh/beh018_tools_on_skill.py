"""A skill or command sets `tools` to none, read-only or write."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH018")


CHECK = Check(
    code="BEH018",
    name="tools-on-skill",
    severity="warning",
    summary="A skill or command sets `tools` to none, read-only or write.",
    why="On a skill this approves tools and removes none: the model can still use all other tools.",
    hint="Use `execution: agent`, or a permission rule that denies the other tools.",
    bad=command("behavior:\n  tools: read-only\n", "Look at the diff.\n"),
    good=command("behavior:\n  tools: full\n", "Look at the diff.\n"),
    run=run,
)
