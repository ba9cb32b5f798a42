"""Work that goes on in the wrong directory."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.model.expression import references_in
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_SKILLS = {"implement-worktree": "", "retry-worktree": ""}
_STEPS = """
build:
  tool: run_skill
  with: {skill_command: /implement-worktree, cwd: .}
  capture: {worktree_path: "${{ result.worktree_path }}"}
  retries: 0
  on_context_limit: again
  on_success: end
again:
  tool: run_skill
  with: {skill_command: /retry-worktree, cwd: "PLACE"}
  retries: 0
  on_context_limit: failed
end: {action: stop, message: "See ${{ context.worktree_path }}"}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            if one.name not in rule_facts().skills.resumes:
                continue
            if not any(each.namespace == "context" for each in references_in(one.step.with_args.get("cwd"))):
                message = f"`{one.step.name}` runs `{one.name}` in a `cwd` that no earlier step captured"
                yield Finding(origin=one.step.where("with.cwd"), message=message)


CHECK = Check(
    code="RCP083",
    name="retry-worktree-cwd",
    severity="error",
    summary="A skill that goes on in a worktree does not get the worktree as `cwd`.",
    why="It works in another directory, and the work that it should finish is not there.",
    hint="Write `cwd: ${{ context.worktree_path }}`.",
    bad=example(_STEPS.replace("PLACE", "."), skills=_SKILLS),
    good=example(_STEPS.replace("PLACE", "${{ context.worktree_path }}"), skills=_SKILLS),
    run=run,
)
