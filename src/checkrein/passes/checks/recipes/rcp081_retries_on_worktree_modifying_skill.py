"""Second starts in a worktree that is half done."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import IMPLEMENT, example

_STEPS = """
build:
  tool: run_skill
  with: {skill_command: /implement-worktree, cwd: .}
  retries: TIMES
  on_context_limit: failed
"""


def run(subject: Subject) -> Iterator[Finding]:
    skills = rule_facts().skills
    for case in subject.cases:
        for one in case.skills:
            if one.name in skills.worktree and one.step.retries > 0:
                message = f"`{one.step.name}` may start `{one.name}` again in a worktree that it has changed"
                origin = one.step.where("retries" if "retries" in one.step.spans else "with.skill_command")
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="RCP081",
    name="retries-on-worktree-modifying-skill",
    severity="error",
    summary="A skill that changes a worktree is tried again by itself.",
    why="The second worker meets the half-done work of the first, or makes a second worktree beside it.",
    hint="Write `retries: 0`, and route `on_context_limit` or `on_failure` to a step that goes on "
    "in the worktree.",
    bad=example(_STEPS.replace("TIMES", "2"), skills=IMPLEMENT),
    good=example(_STEPS.replace("TIMES", "0"), skills=IMPLEMENT),
    run=run,
)
