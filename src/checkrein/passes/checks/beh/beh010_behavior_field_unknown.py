"""A field of `behavior` does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH010")


CHECK = Check(
    code="BEH010",
    name="behavior-field-unknown",
    severity="warning",
    summary="A field of `behavior` does not exist.",
    why="Deploy leaves it out of every file.",
    hint="Correct its name, or move it below `agents`.",
    bad=command("behavior:\n  effrot: low\n", "Look at the diff.\n"),
    good=command("behavior:\n  effort: low\n", "Look at the diff.\n"),
    run=run,
)
