"""Clones in the place of worktrees."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.expression import references_in
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import IMPLEMENT, SOURCE, example
from checkrein.passes.recipes.dataflow import result_field, writes

_STEPS = """
clone:
  tool: clone_repo
  with: {source_dir: "${{ inputs.source_dir }}", run_name: work}
  capture: {clone_path: "${{ result.clone_path }}"}
build:
  tool: run_skill
  with: {skill_command: /implement-worktree, cwd: "${{ context.clone_path }}"}
  capture: {worktree_path: "${{ result.worktree_path }}"}
  retries: 0
  on_context_limit: failed
check:
  tool: test_check
  with: {worktree_path: "${{ context.PLACE }}"}
end: {action: stop, message: "See ${{ context.worktree_path }}"}
"""


_TOOLS = ("merge_worktree", "test_check", "classify_fix")


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        has_worktree = any(
            result_field(text) == "worktree_path" for _, step in case.steps for text in writes(step).values()
        )
        for _, step in case.calls(*_TOOLS):
            for reference in references_in(step.with_args.get("worktree_path")):
                is_root = case.comes_from(reference, "clone_path") or str(reference) == "context.clone_path"
                if is_root and (has_worktree or step.tool == "merge_worktree"):
                    message = f"`{step.name}` takes `{reference}`, the root of a clone, as a worktree"
                    yield Finding(origin=step.where("with.worktree_path"), message=message)


CHECK = Check(
    code="RCP073",
    name="clone-root-as-worktree",
    severity="error",
    summary="A step gets the root of a clone as its worktree.",
    why="A merge removes the directory it is given, and a test there looks at code without the change.",
    hint="Pass the path that the step with the worktree captured.",
    bad=example(_STEPS.replace("PLACE", "clone_path"), top=SOURCE, skills=IMPLEMENT),
    good=example(_STEPS.replace("PLACE", "worktree_path"), top=SOURCE, skills=IMPLEMENT),
    run=run,
)
