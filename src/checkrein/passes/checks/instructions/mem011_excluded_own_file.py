"""Instruction files of the project that a setting keeps out."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Instruction
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    for candidate in subject.project.inactive:
        item = candidate.item
        if not isinstance(item, Instruction) or "claudeMdExcludes" not in (candidate.lost or ""):
            continue
        if item.origin.scope == "project" and item.kind in ("memory", "rule"):
            yield Finding(origin=top(item), message="`claudeMdExcludes` keeps these instructions out")


CHECK = Check(
    code="MEM011",
    name="instructions-excluded",
    severity="info",
    summary="`claudeMdExcludes` keeps a file of the project out.",
    why="Its instructions have no effect here, although the file is where Claude Code looks for it.",
    hint="Narrow the pattern, unless that is what you want.",
    bad={"CLAUDE.md": "Use short names.\n", SETTINGS: document({"claudeMdExcludes": ["**/CLAUDE.md"]})},
    good={
        "CLAUDE.md": "Use short names.\n",
        SETTINGS: document({"claudeMdExcludes": ["**/vendor/CLAUDE.md"]}),
    },
    run=run,
)
