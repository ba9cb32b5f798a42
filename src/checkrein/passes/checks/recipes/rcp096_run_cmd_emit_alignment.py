"""Captured words that a command never prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.model.expression import references
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import result_field
from checkrein.passes.recipes.shell_text import programs

_STEPS = """
head:
  tool: run_cmd
  with: {cmd: "COMMAND", cwd: .}
  capture: {sha: "${{ result.sha }}"}
end: {action: stop, message: "At ${{ context.sha }}"}
"""


_FIELDS = frozenset(("success", "exit_code", "stdout", "stderr", "error"))
_SILENT = frozenset(
    (
        "git",
        "echo",
        "printf",
        "cd",
        "mkdir",
        "rm",
        "cp",
        "mv",
        "touch",
        "true",
        "test",
        "[",
        "date",
        "pwd",
        "ls",
        "wc",
        "sleep",
        "chmod",
        "ln",
        "set",
        "export",
    )
)
"""Programs that print a line `name=value` only when their arguments have the name."""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step, text in case.commands():
            if not set(programs(text)) <= _SILENT or "$(" in text or "`" in text or references(text):
                continue
            for kind, captured in (("capture", step.capture), ("capture_list", step.capture_list)):
                for variable, expression in captured.items():
                    found = result_field(expression)
                    if (
                        found is not None
                        and found not in _FIELDS
                        and not re.search(rf"\b{re.escape(found)}\b", text)
                    ):
                        message = f"`{step.name}` captures `{found}`, which its command never prints"
                        yield Finding(origin=step.where(f"{kind}.{variable}"), message=message)


CHECK = Check(
    code="RCP096",
    name="run-cmd-emit-alignment",
    severity="error",
    summary="A step captures a field that its command does not print.",
    why="A command's fields are the lines `name=value` that it prints. This one prints no such "
    "line, so the variable has no value.",
    hint='Print it: `echo "name=$(...)"`.',
    bad=example(_STEPS.replace("COMMAND", "git rev-parse HEAD")),
    good=example(_STEPS.replace("COMMAND", 'echo \\"sha=$(git rev-parse HEAD)\\"')),
    run=run,
)
