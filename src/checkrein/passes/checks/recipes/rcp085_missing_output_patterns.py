"""Files that a skill reports without a form."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import named_contracts

_STEPS = "report: {tool: run_skill, with: {skill_command: /report, cwd: .}}"
_OUTPUTS = "outputs: [{name: report_path, type: file_path}]\n"
_PATTERNS = """expected_output_patterns: ["report_path = /.+"]
pattern_examples: [report_path = /tmp/report.md]
"""


def run(subject: Subject) -> Iterator[Finding]:
    for skill, file, contract in named_contracts(subject):
        paths = [one.name for one in contract.outputs if one.is_path]
        if paths and not contract.expected_output_patterns:
            message = f"`{skill.name}` reports the file `{paths[0]}` and has no `expected_output_patterns`"
            yield Finding(origin=file.at("outputs"), message=message)


CHECK = Check(
    code="RCP085",
    name="missing-output-patterns",
    severity="warning",
    summary="A contract has a file as output and no patterns for its text.",
    why="A session that submits nothing is judged by the text alone. A line of any form passes, "
    "also one without a path.",
    hint="Add `expected_output_patterns` such as `plan_path = /.+`, and `pattern_examples`.",
    bad=example(_STEPS, skills={"report": _OUTPUTS}),
    good=example(
        _STEPS, skills={"report": _OUTPUTS + _PATTERNS}, bodies={"report": "Report as plain text.\n"}
    ),
    run=run,
)
