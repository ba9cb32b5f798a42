"""Commands that search for what the run knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_STEPS = "newest: {tool: run_cmd, with: {cmd: COMMAND, cwd: .}}"


_NEWEST = re.compile(
    r"\bfind\b[^\n;]{0,300}\|\s*(?:xargs\s+\S*\s*ls\s+-\w*t|sort\b[^\n;]{0,300}\|\s*(?:head|tail)|head\s+-n?\s*1\b|tail\s+-n?\s*1\b)|\bls\s+-\w*t\w*\b[^\n;]{0,300}\|\s*(?:head|tail)\b"
)


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step, text in case.commands():
            if _NEWEST.search(text):
                message = (
                    f"`{step.name}` searches for a file by its age or name instead of taking a captured path"
                )
                yield Finding(origin=step.where("with.cmd"), message=message)


CHECK = Check(
    code="RCP097",
    name="run-cmd-find-rediscovery",
    severity="warning",
    summary="A command looks for the newest file to find a path again.",
    why="The newest file may be of another run. The step that wrote it knows its path.",
    hint="Capture the path in the step that writes it, and read `${{ context.NAME }}`.",
    bad=example(_STEPS.replace("COMMAND", "ls -t plans | head -1")),
    good=example(_STEPS.replace("COMMAND", "ls plans | wc -l")),
    run=run,
)
