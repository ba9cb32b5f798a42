"""Files that a full context leaves half written."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_CONTRACT = "write_behavior: always\n"
_STEPS = """
report:
  tool: run_skill
  with: {skill_command: /report, cwd: .}
  LIMIT
"""


def run(subject: Subject) -> Iterator[Finding]:
    elsewhere = rule_facts().skills.worktree
    for case in subject.cases:
        for one in case.skills:
            if one.must_write and one.step.on_context_limit is None and one.name not in elsewhere:
                message = (
                    f"`{one.step.name}` has no route for a full context of `{one.name}`, which writes files"
                )
                yield Finding(origin=one.step.where("with.skill_command"), message=message)


CHECK = Check(
    code="RCP084",
    name="file-writing-skill-missing-context-limit",
    severity="warning",
    summary="A skill that always writes files has no `on_context_limit`.",
    why="Its worker's context can be full when some of the files are written. The run fails, and "
    "nobody looks at them.",
    hint="Add `on_context_limit` with a step that goes on or cleans up.",
    bad=example(_STEPS.replace("LIMIT", ""), skills={"report": _CONTRACT}),
    good=example(_STEPS.replace("LIMIT", "on_context_limit: failed"), skills={"report": _CONTRACT}),
    run=run,
)
