"""Steps that nobody needs, and that can end the run."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_TOP = "ingredients: {audit: {description: Whether to audit, default: 'false'}}\n"
_STEPS = """
audit:
  tool: run_skill
  with: {skill_command: /review-changes, cwd: .}
  skip_when_false: inputs.audit
  LIMIT
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            if one.step.skip_when_false and one.step.on_context_limit is None and not one.must_write:
                message = f"`{one.step.name}` may be skipped, and a full context in it ends the run"
                yield Finding(origin=one.step.where("skip_when_false"), message=message)


CHECK = Check(
    code="RCP079",
    name="advisory-step-missing-context-limit",
    severity="warning",
    summary="A step that may be skipped runs a skill and has no `on_context_limit`.",
    why="The recipe does without the step when it is switched off. When its worker's context is "
    "full, the run fails.",
    hint="Add `on_context_limit` with the step that comes next.",
    bad=example(_STEPS.replace("LIMIT", ""), top=_TOP),
    good=example(_STEPS.replace("LIMIT", "on_context_limit: done"), top=_TOP),
    run=run,
)
