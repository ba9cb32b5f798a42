"""Steps that call a tool that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.kitchen import kitchen_tools
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import meant


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.steps:
            tool = step.tool
            if tool is None or tool in kitchen_tools() or tool in subject.tools or tool.startswith("mcp__"):
                continue
            message = f"`{step.name}` calls `{tool}`, which is no tool"
            yield Finding(
                origin=step.where("tool"),
                message=message,
                hint=meant(tool, (*kitchen_tools(), *subject.tools.names())),
            )


CHECK = Check(
    code="RCP048",
    name="unknown-tool",
    severity="error",
    summary="A step names a tool that is not registered.",
    why="The step can't run; the recipe is refused before it starts.",
    hint="Name a tool of the kitchen, of the session or of a server (`mcp__SERVER__TOOL`).",
    bad=example("check: {tool: test_chekc, with: {worktree_path: .}}"),
    good=example("check: {tool: test_check, with: {worktree_path: .}}"),
    run=run,
)
