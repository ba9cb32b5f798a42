"""Promised lines that decoration can hide."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.prose import body_start
from checkrein.passes.checks.recipe_cases import named_contracts

_STEPS = "ship: {tool: run_skill, with: {skill_command: /ship, cwd: .}}"
_CONTRACT = """
outputs: [{name: verdict}]
expected_output_patterns: ["verdict = \\\\w+"]
pattern_examples: [verdict = go]
"""


_PLAIN = re.compile(
    r"(?i)plain[ -]text|undecorated|verbatim|literally|exactly as"
    r"|\b(?:no|without|never|not)\b[^.\n]{0,40}\b(?:markdown|decoration|formatting|bold|backticks)"
)


def run(subject: Subject) -> Iterator[Finding]:
    for skill, file, contract in named_contracts(subject):
        if contract.expected_output_patterns and _PLAIN.search(skill.body) is None:
            message = f"`{skill.name}` promises lines of a certain form and does not ask for plain text"
            related = (file.at("expected_output_patterns"),)
            yield Finding(origin=body_start(skill), message=message, related=related)


CHECK = Check(
    code="RCP060",
    name="output-section-no-markdown-directive",
    severity="warning",
    summary="A skill with output patterns does not ask for plain text.",
    why="A model likes to write `**name**` or a table. A decorated line does not match the "
    "contract's patterns, and the work counts as failed.",
    hint="Say in the skill that these lines are plain text without Markdown.",
    bad=example(_STEPS, skills={"ship": _CONTRACT}, bodies={"ship": "End with the verdict.\n"}),
    good=example(
        _STEPS, skills={"ship": _CONTRACT}, bodies={"ship": "End with the verdict, as plain text.\n"}
    ),
    run=run,
)
