"""`behavior.tools` is an empty list."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH008")


CHECK = Check(
    code="BEH008",
    name="tools-empty",
    severity="info",
    summary="`behavior.tools` is an empty list.",
    why="It means `none`. The word `none` is clearer.",
    hint="Write `tools: none`.",
    bad=command("behavior:\n  tools: []\n", "Look at the diff.\n"),
    good=command("behavior:\n  tools: full\n", "Look at the diff.\n"),
    run=run,
)
