"""States of the merge queue without a route."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from checkrein.facts.kitchen import PullState
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.path_facts import routed

_STEPS = """
queue:
  tool: wait_for_merge_queue
  with: {pr_number: 1, target_branch: main}
  on_failure: failed
  on_result:
    - {when: "${{ result.pr_state }} == merged", route: done}
    - {when: "${{ result.pr_state }} == ejected", route: failed}MORE
    - {route: failed}
"""
_MORE = """
    - {when: "${{ result.pr_state }} == ejected_ci_failure", route: failed}
    - {when: "${{ result.pr_state }} == stalled", route: failed}
    - {when: "${{ result.pr_state }} == dropped_healthy", route: queue}"""


_LAST = ("timeout", "error")


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.calls("wait_for_merge_queue"):
            handled = routed(step, "result.pr_state")
            covered = handled | set(_LAST if any(arm.when is None for arm in step.on_result) else ())
            missing = [state for state in get_args(PullState) if state not in covered]
            if handled and missing:
                message = f"`{step.name}` has no route for {', '.join(missing)}"
                yield Finding(origin=step.where("on_result"), message=message)


CHECK = Check(
    code="RCP104",
    name="wait-for-merge-queue-routing-covers-all-pr-states",
    severity="error",
    summary="A step routes by `pr_state` and leaves out a state.",
    why="The pull request ends in a state that the recipe does not know, and takes the way of another.",
    hint="Add an arm for each state; a last arm without `when` takes `timeout` and `error`.",
    bad=example(_STEPS.replace("MORE", "")),
    good=example(_STEPS.replace("MORE", _MORE)),
    run=run,
)
