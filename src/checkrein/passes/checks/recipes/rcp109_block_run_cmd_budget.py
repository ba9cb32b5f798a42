"""Blocks with too many commands."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.blocks import blocks
from checkrein.passes.recipes.shell_text import calls_gh_api

_STEPS = """
one: {tool: run_cmd, with: {cmd: make, cwd: .}, block: build}
two: {tool: run_cmd, with: {cmd: ls, cwd: .}, block: OTHER}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            for block in blocks(flow):
                budget = rule_facts().budget(block.name)
                found = [step for step in block.steps if step.tool == "run_cmd"]
                if budget.forbids_gh_api:
                    found = [step for step in found if not calls_gh_api(str(step.with_args.get("cmd")))]
                most = budget.run_cmd
                if most is not None and len(found) > most:
                    message = f"The block `{block.name}` runs {len(found)} commands, and may run {most}"
                    yield Finding(origin=found[most].where("tool"), message=message)


CHECK = Check(
    code="RCP109",
    name="block-run-cmd-budget",
    severity="error",
    summary="A block runs more commands than it may.",
    why="A block is meant to be one piece of work. Several commands in it should be one, or a tool.",
    hint="Join the commands, use a tool, or split the block.",
    bad=example(_STEPS.replace("OTHER", "build")),
    good=example(_STEPS.replace("OTHER", "list")),
    run=run,
)
