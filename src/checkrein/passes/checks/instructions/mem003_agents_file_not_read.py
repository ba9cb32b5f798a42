"""An AGENTS.md that Claude Code does not read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.base.diagnostic import Edit, Fix
from checkrein.base.origin import Span
from checkrein.facts import claude
from checkrein.model.items import Instruction
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.parts import top
from checkrein.passes.others import has_own


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    if not has_own(project.place, project.sources):
        return
    loaded = {os.path.realpath(item.name) for item in project.instructions}
    texts = {"", *(item.text.strip() for item in project.instructions)}
    for item in project.sources.instructions:
        if item.kind != "agents_md" or os.path.realpath(item.name) in loaded or item.text.strip() in texts:
            continue
        directory = os.path.dirname(item.name)
        beside = next((other for other in project.instructions if _is_beside(other, directory)), None)
        fix = None
        if beside is not None:
            lines = subject.lines(beside.name)
            end = Span(len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 1)
            start = "" if not lines[-1] else "\n"
            edit = Edit(beside.name, end, f"{start}\n@{claude.AGENTS_FILE}\n")
            fix = Fix(f"Import it from {claude.MEMORY_FILE}", (edit,), safe=False)
        message = f"Claude Code does not read {claude.AGENTS_FILE}, and nothing imports it"
        yield Finding(origin=top(item), message=message, fix=fix)


def _is_beside(item: Instruction, directory: str) -> bool:
    return (
        item.kind == "memory" and os.path.dirname(item.name) == directory and item.origin.scope == "project"
    )


CHECK = Check(
    code="MEM003",
    name="agents-file-not-read",
    severity="warning",
    summary="AGENTS.md exists, but Claude Code does not read it.",
    why="Claude Code reads CLAUDE.md only. AGENTS.md applies to other agents only.",
    hint="Write `@AGENTS.md` on a line of CLAUDE.md, or make CLAUDE.md a link to it.",
    bad={"CLAUDE.md": "Use short names.\n", "AGENTS.md": "Run the tests.\n"},
    good={"CLAUDE.md": "Use short names.\n\n@AGENTS.md\n", "AGENTS.md": "Run the tests.\n"},
    run=run,
    whole=True,
    fixable=True,
)
