"""Commands that wait for CI by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_RUN = re.compile(r"\bgh\s+run\s+(?:watch|view|list)\b|\bgh\s+pr\s+checks\b[^;&|\n]{0,200}--watch")


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step, text in case.commands():
            match = _RUN.search(text)
            if match is not None:
                message = f"`{step.name}` runs `{match[0]}`; a tool waits for continuous integration"
                yield Finding(origin=step.where("with.cmd"), message=message)


CHECK = Check(
    code="RCP098",
    name="ci-polling-inline-shell",
    severity="warning",
    summary="A command asks `gh run` about continuous integration.",
    why="The command knows nothing of retries, timeouts or several runs of one commit, and blocks its step.",
    hint="Use the tool `wait_for_ci` or `get_ci_status`.",
    bad=example("watch: {tool: run_cmd, with: {cmd: gh run watch, cwd: .}}"),
    good=example("watch: {tool: run_cmd, with: {cmd: gh pr view, cwd: .}}"),
    run=run,
)
