"""Inputs that nobody can give."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_STEPS = "end: {action: stop, message: 'On ${{ inputs.branch }}'}"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.recipe.ingredients:
            if one.required and one.default is None and (one.hidden or one.authority == "config"):
                yield Finding(
                    origin=one.origin, message=f"`{one.name}` is required, and nobody is asked for it"
                )


CHECK = Check(
    code="RCP046",
    name="required-ingredient-no-default",
    severity="warning",
    summary="A required input has no default, and nobody is asked for it.",
    why="The input is hidden, or only the configuration sets it. A run without it is refused.",
    hint="Give it a default, or show it.",
    bad=example(
        _STEPS, top="ingredients: {branch: {description: The branch, required: true, hidden: true}}\n"
    ),
    good=example(_STEPS, top="ingredients: {branch: {description: The branch, required: true}}\n"),
    run=run,
)
