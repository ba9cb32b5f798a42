"""Inputs that only programs set, and people see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_STEPS = "end: {action: stop, message: 'Started by ${{ inputs.run_mode }}'}"


_SET_BY = re.compile(
    r"(?i)\s*set by (?:the |an? )?(?:pipeline|campaign|orchestrator|parent|caller|program|recipe)\b"
)


def run(subject: Subject) -> Iterator[Finding]:
    internal = rule_facts().inputs.internal
    for case in subject.cases:
        for one in case.recipe.ingredients:
            if not one.hidden and (one.name in internal or _SET_BY.match(one.description)):
                yield Finding(
                    origin=one.origin, message=f"`{one.name}` is set by programs, and people are asked for it"
                )


CHECK = Check(
    code="RCP045",
    name="pipeline-internal-not-hidden",
    severity="warning",
    summary="An input that only a program sets is not hidden.",
    why="People are asked for a value that they can't know, and whatever they answer changes the run.",
    hint="Add `hidden: true`.",
    bad=example(_STEPS, top="ingredients: {run_mode: {description: How the run was started}}\n"),
    good=example(
        _STEPS, top="ingredients: {run_mode: {description: How the run was started, hidden: true}}\n"
    ),
    run=run,
)
