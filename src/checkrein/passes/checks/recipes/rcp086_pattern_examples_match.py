"""Patterns that match nothing."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.skill_contract import is_found
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import named_contracts
from checkrein.passes.recipes.contract_patterns import is_pattern

_STEPS = "report: {tool: run_skill, with: {skill_command: /report, cwd: .}}"
_BODIES = {"report": "Report the verdict as plain text.\n"}
_CONTRACT = """
outputs: [{name: verdict}]
expected_output_patterns: ["verdict = (go|stop)"]
pattern_examples: [LINE]
"""


def run(subject: Subject) -> Iterator[Finding]:
    for skill, file, contract in named_contracts(subject):
        for number, pattern in enumerate(
            contract.expected_output_patterns if contract.pattern_examples else ()
        ):
            origin = file.at(f"expected_output_patterns[{number}]")
            if not is_pattern(pattern):
                yield Finding(
                    origin=origin, message=f"`{pattern}` of `{skill.name}` is no regular expression"
                )
            elif not any(is_found(pattern, example) for example in contract.pattern_examples):
                yield Finding(
                    origin=origin, message=f"`{pattern}` of `{skill.name}` matches none of its examples"
                )


CHECK = Check(
    code="RCP086",
    name="pattern-examples-match",
    severity="error",
    summary="A pattern of a contract matches none of its examples.",
    why="Either the pattern or the example is wrong. If it is the pattern, every worker fails "
    "after its work is done.",
    hint="Mend the pattern or the examples.",
    bad=example(_STEPS, skills={"report": _CONTRACT.replace("LINE", "verdict is go")}, bodies=_BODIES),
    good=example(_STEPS, skills={"report": _CONTRACT.replace("LINE", "verdict = go")}, bodies=_BODIES),
    run=run,
)
