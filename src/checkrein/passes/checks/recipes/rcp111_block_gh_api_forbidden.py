"""Raw calls of an API where a tool is meant."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.shell_text import calls_gh_api

_STEPS = "ask: {tool: run_cmd, with: {cmd: COMMAND, cwd: .}, block: pre_queue_gate}"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step, text in case.commands():
            if step.block and rule_facts().budget(step.block).forbids_gh_api and calls_gh_api(text):
                message = f"`{step.name}` calls `gh api` in the block `{step.block}`, which forbids it"
                yield Finding(origin=step.where("with.cmd"), message=message)


CHECK = Check(
    code="RCP111",
    name="block-gh-api-forbidden",
    severity="error",
    summary="A command calls `gh api` in a block that forbids it.",
    why="The block is meant to use the tool that asks everything at once and reads the answer.",
    hint="Use the tool, such as `check_repo_merge_state`.",
    bad=example(_STEPS.replace("COMMAND", "gh api repos/x/y")),
    good=example(_STEPS.replace("COMMAND", "git status").replace("pre_queue_gate", "queue")),
    run=run,
)
