"""Failed merges that could go on and do not."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import IMPLEMENT, example, merge
from checkrein.passes.recipes.path_facts import routed

_ROUTES = """
  on_failure: failed
  on_result:
    - {when: "${{ result.failed_step }} == dirty_tree", route: commit}
    - {when: "${{ result.failed_step }} == test_gate", route: build}"""
_MORE = """
    - {when: "${{ result.failed_step }} == post_rebase_test_gate", route: build}
    - {when: "${{ result.failed_step }} == rebase", route: build}"""
_LAST = """
    - {route: end}"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.calls("merge_worktree"):
            handled = routed(step, "result.failed_step")
            missing = [one for one in rule_facts().merge.recoverable if one not in handled]
            if handled and missing:
                message = f"`{step.name}` has no route for {', '.join(missing)}"
                yield Finding(origin=step.where("on_result"), message=message)


CHECK = Check(
    code="RCP075",
    name="merge-routing-incomplete",
    severity="error",
    summary="The routes of a merge leave out a failure after which work can go on.",
    why="The worktree is intact after these failures. Without a route the run ends, and the work "
    "in it is lost.",
    hint="Add an arm for each: `${{ result.failed_step }} == NAME`.",
    bad=example(merge(routes=_ROUTES + _LAST), skills=IMPLEMENT),
    good=example(merge(routes=_ROUTES + _MORE + _LAST), skills=IMPLEMENT),
    run=run,
)
