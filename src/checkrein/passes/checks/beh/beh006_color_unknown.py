"""`behavior.color` is not one of the eight colors."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH006")


CHECK = Check(
    code="BEH006",
    name="color-unknown",
    severity="error",
    summary="`behavior.color` is not one of the eight colors.",
    why="Claude Code does not know the color.",
    hint="Use red, blue, green, yellow, purple, orange, pink or cyan.",
    bad=command("behavior:\n  color: mauve\n", "Look at the diff.\n"),
    good=command("behavior:\n  color: cyan\n", "Look at the diff.\n"),
    run=run,
)
