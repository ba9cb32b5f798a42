"""Rules that forbid no tool by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_STEPS = "end: {action: stop, message: Finished}"


def run(subject: Subject) -> Iterator[Finding]:
    names = re.compile(r"\b(?:" + "|".join(rule_facts().rules.native_tools) + r")\b")
    for case in subject.cases:
        rules = case.recipe.kitchen_rules
        if rules and not any(names.search(rule) for rule in rules):
            message = "`kitchen_rules` forbid no tool by its name"
            yield Finding(origin=case.recipe.where("kitchen_rules"), message=message)


CHECK = Check(
    code="RCP061",
    name="weak-constraint-text",
    severity="warning",
    summary="`kitchen_rules` name none of the agent's own tools.",
    why="A model that is handed the recipe keeps to what is named. Rules that name no tool leave "
    "it free to edit files itself instead of running the steps.",
    hint="Name the tools that are forbidden outside steps, such as Bash, Edit and Write.",
    bad=example(_STEPS, rules="kitchen_rules: [Follow the steps]\n"),
    good=example(_STEPS, rules="kitchen_rules: ['Follow the steps; never use Edit or Write yourself']\n"),
    run=run,
)
