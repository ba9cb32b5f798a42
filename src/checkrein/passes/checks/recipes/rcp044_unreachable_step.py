"""Steps that no run comes to."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.path_facts import facts_at


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            possible, written = facts_at(flow), flow.reach(flow.starts)
            for name, step in flow.steps.items() if flow.is_closed else ():
                if name in possible:
                    continue
                why = (
                    "the conditions on the way to it contradict each other"
                    if name in written
                    else "nothing routes to it"
                )
                yield Finding(origin=step.origin, message=f"`{name}` never runs: {why}")


CHECK = Check(
    code="RCP044",
    name="unreachable-step",
    severity="warning",
    summary="Nothing routes to a step.",
    why="The step looks like a part of the recipe and never runs.",
    hint="Route to it, or remove it.",
    bad=example(
        """
        check: {tool: test_check, with: {worktree_path: .}, on_success: done}
        report: {action: stop, message: The tests are red}
        """
    ),
    good=example(
        """
        check: {tool: test_check, with: {worktree_path: .}, on_success: done, on_failure: report}
        report: {action: stop, message: The tests are red}
        """
    ),
    run=run,
)
