"""Worktrees that a full context leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import IMPLEMENT, example

_STEPS = """
build:
  tool: run_skill
  with: {skill_command: /implement-worktree, cwd: .}
  retries: 0
  LIMIT
"""


def run(subject: Subject) -> Iterator[Finding]:
    skills = rule_facts().skills.worktree
    for case in subject.cases:
        for one in case.skills:
            if one.name in skills and one.step.on_context_limit is None:
                message = f"`{one.step.name}` has no route for a full context of `{one.name}`"
                yield Finding(origin=one.step.where("with.skill_command"), message=message)


CHECK = Check(
    code="RCP082",
    name="missing-context-limit-on-worktree",
    severity="warning",
    summary="A skill that changes a worktree has no `on_context_limit`.",
    why="Its worker's context can be full before the work is done. The half-done worktree is "
    "there, and the run fails instead of going on in it.",
    hint="Add `on_context_limit` with a step that goes on in the worktree.",
    bad=example(_STEPS.replace("LIMIT", ""), skills=IMPLEMENT),
    good=example(_STEPS.replace("LIMIT", "on_context_limit: failed"), skills=IMPLEMENT),
    run=run,
)
