"""Captured words that a command never prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.model.expression import references
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import captures, result_field
from checkrein.passes.recipes.shell_text import programs

_STEPS = """
head:
  tool: run_cmd
  with: {cmd: "COMMAND", cwd: .}
  capture: {sha: "${{ result.sha }}"}
end: {action: stop, message: "At ${{ context.sha }}"}
"""


def run(subject: Subject) -> Iterator[Finding]:
    facts = rule_facts()
    for case in subject.cases:
        for _, step, text in case.commands():
            if (
                not set(programs(text)) <= facts.programs.silent
                or "$(" in text
                or "`" in text
                or references(text)
            ):
                continue
            for capture in captures(step):
                found = result_field(capture.expression)
                if found is None or found in facts.results["run_cmd"]:
                    continue
                if not re.search(rf"\b{re.escape(found)}\b", text):
                    message = f"`{step.name}` captures `{found}`, which its command never prints"
                    yield Finding(origin=step.where(capture.field), message=message)


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
