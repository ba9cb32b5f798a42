"""A CLAUDE.local.md that git does not ignore."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.ignored import is_ignored
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.instructions:
        if item.kind == "local" and not is_ignored(item.name, subject.project.place):
            yield Finding(origin=top(item), message=f"Git does not ignore {claude.LOCAL_MEMORY_FILE}")


CHECK = Check(
    code="MEM004",
    name="local-file-shared",
    severity="warning",
    summary="Git does not ignore CLAUDE.local.md.",
    why="It is for your own notes; once committed, everyone's sessions read them.",
    hint="Add `CLAUDE.local.md` to .gitignore.",
    bad={"CLAUDE.local.md": "My sandbox is at sandbox.example.com.\n"},
    good={"CLAUDE.local.md": "My sandbox is at sandbox.example.com.\n", ".gitignore": "CLAUDE.local.md\n"},
    run=run,
)
