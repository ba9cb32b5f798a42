"""Patterns that nothing tries."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import named_contracts

_STEPS = "report: {tool: run_skill, with: {skill_command: /report, cwd: .}}"
_BODIES = {"report": "Report the verdict as plain text.\n"}
_CONTRACT = """outputs: [{name: verdict}]
expected_output_patterns: ["verdict = (go|stop)"]
"""


def run(subject: Subject) -> Iterator[Finding]:
    for skill, file, contract in named_contracts(subject):
        if contract.expected_output_patterns and not contract.pattern_examples:
            message = f"`{skill.name}` has `expected_output_patterns` and no `pattern_examples`"
            yield Finding(origin=file.at("expected_output_patterns"), message=message)


CHECK = Check(
    code="RCP087",
    name="missing-pattern-examples",
    severity="warning",
    summary="A contract has patterns and no examples.",
    why="Whether a pattern fits the lines that the skill writes shows only in a run, after the work is done.",
    hint="Add `pattern_examples` with lines as the skill writes them.",
    bad=example(_STEPS, skills={"report": _CONTRACT}, bodies=_BODIES),
    good=example(_STEPS, skills={"report": _CONTRACT + "pattern_examples: [verdict = go]\n"}, bodies=_BODIES),
    run=run,
)
