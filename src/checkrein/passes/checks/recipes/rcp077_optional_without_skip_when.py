"""Optional steps that are never skipped."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_TOP = "ingredients: {audit: {description: Whether to audit, default: 'false'}}\n"
_STEPS = "check: {tool: test_check, with: {worktree_path: '${{ inputs.audit }}'}, optional: trueWHEN}"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.steps:
            if step.optional and not step.skip_when_false:
                message = f"`{step.name}` is optional, and nothing says when to skip it"
                yield Finding(origin=step.where("optional"), message=message)


CHECK = Check(
    code="RCP077",
    name="optional-without-skip-when",
    severity="error",
    summary="A step is optional and has no `skip_when_false`.",
    why="`optional` alone does nothing: the step always runs, and its failure counts.",
    hint="Add `skip_when_false: NAME` with an input, or remove `optional`.",
    bad=example(_STEPS.replace("WHEN", ""), top=_TOP),
    good=example(_STEPS.replace("WHEN", ", skip_when_false: inputs.audit"), top=_TOP),
    run=run,
)
