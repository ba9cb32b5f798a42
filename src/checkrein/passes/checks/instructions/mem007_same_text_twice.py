"""Two instruction files with the same text."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.model.items import Instruction
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.parts import top

_SHORTEST = 40


def run(subject: Subject) -> Iterator[Finding]:
    seen: dict[str, Instruction] = {}
    for item in subject.project.instructions:
        text = item.text.strip()
        if len(text) < _SHORTEST:
            continue
        first = seen.setdefault(text, item)
        if first is not item:
            shown = os.path.relpath(first.name, subject.project.place.root)
            message = f"The instructions are the same as those in {shown}; the model reads them twice"
            yield Finding(origin=top(item), message=message, related=(top(first),))


_TEXT = "Use short names. Return early. Write a test for each bug that is mended.\n"

CHECK = Check(
    code="MEM007",
    name="same-text-twice",
    severity="warning",
    summary="Two instruction files hold the same text.",
    why="Claude Code joins all files, so the text is in the context twice. When someone edits one, they "
    "contradict each other.",
    hint="Keep one and import it: `@path`.",
    bad={"CLAUDE.md": _TEXT, ".claude/CLAUDE.md": _TEXT},
    good={"CLAUDE.md": _TEXT, ".claude/CLAUDE.md": "Ask before a file is removed, whatever it is about.\n"},
    run=run,
)
