"""Skipping by an input that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.recipe import input_name
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import meant

_TOP = "ingredients: {audit: {description: Whether to audit, default: 'false'}}\n"
_STEPS = "check: {tool: test_check, with: {worktree_path: '${{ inputs.audit }}'}, skip_when_false: NAME}"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        known = {one.name for one in case.recipe.ingredients}
        for _, step in case.steps:
            if not step.skip_when_false:
                continue
            name = input_name(step.skip_when_false)
            if name not in known and not name.startswith("context."):
                yield Finding(
                    origin=step.where("skip_when_false"),
                    message=f"`{step.name}` is skipped by `{name}`, which is no ingredient",
                    hint=meant(name, known),
                )


CHECK = Check(
    code="RCP078",
    name="skip-when-false-undeclared",
    severity="error",
    summary="`skip_when_false` names no ingredient.",
    why="There is no such value, so nobody can switch the step on or off.",
    hint="Name an ingredient of the recipe, or declare this one.",
    bad=example(_STEPS.replace("NAME", "audits"), top=_TOP),
    good=example(_STEPS.replace("NAME", "audit"), top=_TOP),
    run=run,
)
