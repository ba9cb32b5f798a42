"""Paths and branches that a merge has removed."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import IMPLEMENT, example, merge
from checkrein.passes.recipes.dataflow import invalidated


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            for stale in invalidated(flow):
                name = stale.read.reference.name
                message = (
                    f"`{stale.step.name}` uses `{name}`, which `{stale.remover.name}` has removed by then"
                )
                yield Finding(
                    origin=stale.step.where(stale.read.field),
                    message=message,
                    related=(stale.remover.origin,),
                )


CHECK = Check(
    code="RCP069",
    name="stale-ref-after-merge",
    severity="warning",
    summary="A step uses a worktree, a branch or a clone after the step that removes it.",
    why="The variable still has its value, but the directory or branch is gone: the step fails, "
    "or works on something else.",
    hint="Use it before the step that removes it, or capture a new one in between.",
    bad=example(
        merge(then="check: {tool: test_check, with: {worktree_path: '${{ context.worktree_path }}'}}"),
        skills=IMPLEMENT,
    ),
    good=example(merge(), skills=IMPLEMENT),
    run=run,
)
