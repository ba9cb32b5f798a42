"""Skills that must write, and may end without."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.prose import spot, warns
from checkrein.passes.checks.recipe_cases import named_contracts

_STEPS = "report: {tool: run_skill, with: {skill_command: /report, cwd: .}, on_context_limit: failed}"


_END = r"(?:exit|stop|return|end|finish|succeed|success)\w*"
_NOTHING = r"(?:nothing to (?:do|change|fix|write)|no (?:change|write|edit)s? (?:is|are) (?:needed|required))"
_NO_WRITE = re.compile(
    rf"(?i)\b{_END}\b[^.\n]{{0,60}}\bwithout (?:writing|changing|changes|a change)\b"
    rf"|\b{_NOTHING}\b[^.\n]{{0,60}}\b{_END}"
)


def run(subject: Subject) -> Iterator[Finding]:
    for skill, file, contract in named_contracts(subject):
        if contract.write_behavior != "always":
            continue
        for hit in subject.body(skill).hits(_NO_WRITE):
            if not hit.line.fenced and not warns(hit.line.text[: hit.start]):
                origin = spot(skill, hit.line.number, hit.start, hit.end)
                message = f"`{skill.name}` always writes by its contract, and may end without by its text"
                yield Finding(origin=origin, message=message, related=(file.at("write_behavior"),))


CHECK = Check(
    code="RCP089",
    name="always-has-no-write-exit",
    severity="error",
    summary="A contract says that the skill always writes, and its text has a success without.",
    why="A worker that takes that way out does as it is told, and its result counts as a failure.",
    hint="Make `write_behavior` `conditional` with `write_expected_when`, or take the way out of the skill.",
    bad=example(
        _STEPS,
        skills={"report": "write_behavior: always\n"},
        bodies={"report": "If there is nothing to fix, stop with success.\n"},
    ),
    good=example(
        _STEPS,
        skills={"report": "write_behavior: always\n"},
        bodies={"report": "Write the report, also when all is well.\n"},
    ),
    run=run,
)
