"""A field below `agents` overrides what `behavior` says."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH014")


CHECK = Check(
    code="BEH014",
    name="agents-overrides-behavior",
    severity="info",
    summary="A field below `agents` overrides what `behavior` says.",
    why="That is allowed, but easy to forget when you change `behavior`.",
    hint="Remove one of the two if you did not mean it.",
    bad=command("behavior:\n  effort: low\nagents:\n  claude:\n    effort: max\n", "Look at the diff.\n"),
    good=command("behavior:\n  effort: low\nagents:\n  claude:\n    paths: src\n", "Look at the diff.\n"),
    run=run,
)
