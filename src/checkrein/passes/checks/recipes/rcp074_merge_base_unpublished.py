"""Merges into a branch that the remote does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.expression import Reference, references_in
from checkrein.model.recipe import Step
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import IMPLEMENT, example
from checkrein.passes.recipes.dataflow import producers
from checkrein.passes.recipes.flow_graph import AHEAD

_STEPS = """
branch:
  tool: create_unique_branch
  with: {slug: work, cwd: .}
  capture: {base: "${{ result.branch_name }}"}
PUSH
build:
  tool: run_skill
  with: {skill_command: "/implement-worktree ${{ context.base }}", cwd: .}
  capture: {worktree_path: "${{ result.worktree_path }}"}
  retries: 0
  on_context_limit: failed
commit: {tool: run_cmd, with: {cmd: git commit -am work, cwd: "${{ context.worktree_path }}"}}
join:
  tool: merge_worktree
  with: {worktree_path: "${{ context.worktree_path }}", base_branch: "${{ context.base }}"}
  capture: {cleaned: "${{ result.cleanup_succeeded }}"}
end: {action: stop, message: "Cleaned: ${{ context.cleaned }}"}
"""
_PUSH = """publish:
  tool: push_to_remote
  with: {clone_path: ., branch: "${{ context.base }}", remote_url: "https://example.com/r.git"}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow, step in case.calls("merge_worktree"):
            for base in references_in(step.with_args.get("base_branch")):
                pushes = frozenset(
                    name
                    for name in case.named(flow, tools=["push_to_remote"])
                    if _pushes(flow.steps[name], base)
                )
                for maker in sorted(producers(flow, base.name)) if base.namespace == "context" else ():
                    if flow.steps[maker].tool != "create_unique_branch":
                        continue
                    if step.name in flow.after(maker, first=AHEAD, stop=pushes):
                        message = (
                            f"`{step.name}` merges into the branch of `{maker}`, which may not be pushed"
                        )
                        yield Finding(origin=step.where("with.base_branch"), message=message)


def _pushes(step: Step, branch: Reference) -> bool:
    given = step.with_args.get("branch")
    return given is None or branch in references_in(given)


CHECK = Check(
    code="RCP074",
    name="merge-base-unpublished",
    severity="error",
    summary="The base of a merge is a new branch that is not pushed on every path.",
    why="`merge_worktree` fetches its base from the remote. A branch that is only here stops the merge.",
    hint="Push the branch before the merge, on every path.",
    bad=example(_STEPS.replace("PUSH", ""), skills=IMPLEMENT),
    good=example(_STEPS.replace("PUSH", _PUSH), skills=IMPLEMENT),
    run=run,
)
