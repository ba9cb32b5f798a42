"""Instruction files over the advised length."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_guidance
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    limit = claude_guidance.MEMORY_LINES
    for item in subject.project.instructions:
        lines = item.text.rstrip().count("\n") + 1
        if lines > limit and item.size <= claude_guidance.MEMORY_BYTES:
            message = f"The instructions have {lines} lines; keep them under {limit}"
            yield Finding(origin=top(item), message=message)


CHECK = Check(
    code="MEM001",
    name="instructions-too-long",
    severity="info",
    summary="An instruction file has more than 200 lines.",
    why="All of it is in the context of every request. The longer it is, the less reliably the model follows "
    "it.",
    hint="Move what only some files need into `.claude/rules/` with `paths`, and procedures into skills.",
    bad={"CLAUDE.md": "Use short names.\n" * 201},
    good={"CLAUDE.md": "Use short names.\n" * 200},
    run=run,
)
