"""Results without a way for failures."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_STEPS = """
check:
  tool: test_check
  with: {worktree_path: .}
  on_result: {field: passed, routes: {"true": done, "false": failed}}
  FAILURE
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.steps:
            if step.kind not in ("tool", "python") or not step.on_result or step.on_failure is not None:
                continue
            if step.routes_field is not None or all(arm.when for arm in step.on_result):
                message = f"`{step.name}` has routes for its result and none for a failure"
                yield Finding(origin=step.where("on_result"), message=message)


CHECK = Check(
    code="RCP071",
    name="on-result-missing-failure-route",
    severity="error",
    summary="A step routes by its result and has no route for a failure.",
    why="A call that fails has no result to route by: the run fails there, whatever the other routes say.",
    hint="Add `on_failure`.",
    bad=example(_STEPS.replace("FAILURE", "")),
    good=example(_STEPS.replace("FAILURE", "on_failure: failed")),
    run=run,
)
