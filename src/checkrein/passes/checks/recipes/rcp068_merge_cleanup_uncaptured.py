"""Merges that may leave things behind unnoticed."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import IMPLEMENT, example, merge
from checkrein.passes.recipes.dataflow import results_read

_FIELD = "cleanup_succeeded"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.calls("merge_worktree"):
            if _FIELD not in results_read(step):
                yield Finding(
                    origin=step.where("tool"),
                    message=f"`{step.name}` does not look at `{_FIELD}` of the merge",
                )


CHECK = Check(
    code="RCP068",
    name="merge-cleanup-uncaptured",
    severity="warning",
    summary="A step merges a worktree and does not look at `cleanup_succeeded`.",
    why="The merge can succeed while the worktree or its branch stays. Nobody hears of it, and "
    "the next run meets them.",
    hint='Add `capture: {cleanup_succeeded: "${{ result.cleanup_succeeded }}"}`, and route by it '
    "or report it.",
    bad=example(merge(cleanup=False), skills=IMPLEMENT),
    good=example(merge(), skills=IMPLEMENT),
    run=run,
)
