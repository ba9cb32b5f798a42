"""Arguments that a tool does not take."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.kitchen_calls import ARGUMENTS
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import meant


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.steps:
            known = ARGUMENTS.get(step.tool or "")
            if known is None:
                continue
            for name in step.with_args:
                if name not in known:
                    message = f"`{step.tool}` takes no `{name}`, so `{step.name}` passes it for nothing"
                    yield Finding(origin=step.where(f"with.{name}"), message=message, hint=meant(name, known))


CHECK = Check(
    code="RCP050",
    name="dead-with-param",
    severity="warning",
    summary="A key of `with` is no parameter of the tool.",
    why="The value never reaches the tool; the step runs as if it were not there.",
    hint="Remove it, or write the parameter's name.",
    bad=example("check: {tool: test_check, with: {worktree_path: ., verbose: true}}"),
    good=example("check: {tool: test_check, with: {worktree_path: .}}"),
    run=run,
)
