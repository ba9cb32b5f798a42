"""`behavior.tools` is neither a preset nor tool names."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH007")


CHECK = Check(
    code="BEH007",
    name="tools-not-tools",
    severity="error",
    summary="`behavior.tools` is neither a preset nor tool names.",
    why="YAML does not read `no`, `off` and numbers as text, so there is no tool list.",
    hint="Use none, read-only, write, full, or a list of tool names.",
    bad=command("behavior:\n  tools: no\n", "Look at the diff.\n"),
    good=command("behavior:\n  tools: full\n", "Look at the diff.\n"),
    run=run,
)
