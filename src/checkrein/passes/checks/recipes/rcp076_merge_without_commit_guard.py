"""Merges of work that is not committed."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import IMPLEMENT, example, merge
from checkrein.passes.recipes.flow_graph import AHEAD
from checkrein.passes.recipes.shell_text import commits


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow, step in case.calls("merge_worktree"):
            if any("dirty_tree" in (arm.when or "") for arm in step.on_result):
                continue
            guards = {one.name for held, one, text in case.commands() if held is flow and commits(text)}
            guards |= {name for name in flow.steps if "commit" in name}
            changing = (
                one
                for one in case.skills
                if one.flow is flow and one.changes_files and one.step.name not in guards
            )
            for one in changing:
                if step.name in flow.after(one.step.name, first=AHEAD, stop=guards):
                    message = (
                        f"`{step.name}` merges what `{one.step.name}` changed, without a commit in between"
                    )
                    yield Finding(origin=step.where("tool"), message=message)
                    break


CHECK = Check(
    code="RCP076",
    name="merge-without-commit-guard",
    severity="error",
    summary="A merge can follow a change without a commit in between.",
    why="`merge_worktree` refuses a worktree with changes that are not committed, and the run ends there.",
    hint="Commit before the merge (`git add -A && git commit`), or route `dirty_tree` to a step that does.",
    bad=example(merge(guard=False), skills=IMPLEMENT),
    good=example(merge(), skills=IMPLEMENT),
    run=run,
)
