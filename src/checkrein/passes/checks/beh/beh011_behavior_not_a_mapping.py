"""`behavior` is not a list of `field: value`."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.neutral import command, found


def run(subject: Subject) -> Iterator[Finding]:
    return found(subject, "BEH011")


CHECK = Check(
    code="BEH011",
    name="behavior-not-a-mapping",
    severity="error",
    summary="`behavior` is not a list of `field: value`.",
    why="Checkrein reads none of it.",
    hint="Write the fields below it, indented.",
    bad=command("behavior: fast\n", "Look at the diff.\n"),
    good=command("behavior:\n  capability: fast\n", "Look at the diff.\n"),
    run=run,
)
