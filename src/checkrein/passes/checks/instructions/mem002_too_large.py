"""Instruction files that fill the context."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_guidance
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    limit = claude_guidance.MEMORY_BYTES
    for item in subject.project.instructions:
        if item.size > limit:
            message = (
                f"The instructions have {item.size:,} bytes, about {item.size // 4:,} tokens in every request"
            )
            yield Finding(origin=top(item), message=message)


CHECK = Check(
    code="MEM002",
    name="instructions-too-large",
    severity="warning",
    summary="An instruction file is larger than 25 KB.",
    why="All of it is in the context of every request: it costs money, it crowds out the task, and the model "
    "follows little of it.",
    hint="Keep what every task needs. Move the rest into `.claude/rules/` with `paths`, skills, or files "
    "that are read when needed.",
    bad={"CLAUDE.md": "Use short names and say in each what the value is for.\n" * 500},
    good={"CLAUDE.md": "Use short names and say in each what the value is for.\n" * 100},
    run=run,
)
