"""Contradictory words about writing files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from checkrein.model.skill_contract import WriteBehavior
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import contract_files
from checkrein.passes.recipes.contract_patterns import is_pattern

_STEPS = "report: {tool: run_skill, with: {skill_command: /report, cwd: .}}"


def run(subject: Subject) -> Iterator[Finding]:
    for skill, file in contract_files(subject):
        behavior = file.tree.value.get("write_behavior", "none")
        when = file.tree.value.get("write_expected_when")
        problem = _problem(behavior, when)
        if problem is not None:
            name = "write_behavior" if "write_behavior" in file.tree.value else "write_expected_when"
            yield Finding(origin=file.at(name), message=f"`{skill.name}`: {problem}")


def _problem(behavior: object, when: object) -> str | None:
    if behavior not in get_args(WriteBehavior):
        return f"`write_behavior` is `{behavior}`, which means nothing"
    if behavior == "conditional" and not when:
        return "it writes `conditional`ly, and `write_expected_when` does not say when"
    if behavior != "conditional" and when:
        return f"`write_expected_when` has no effect where `write_behavior` is `{behavior}`"
    patterns = when if isinstance(when, list) else [when] if when else []
    wrong = next((one for one in patterns if not isinstance(one, str) or not is_pattern(one)), None)
    return None if wrong is None else f"`{wrong}` in `write_expected_when` is no regular expression"


CHECK = Check(
    code="RCP088",
    name="write-behavior-consistency",
    severity="error",
    summary="`write_behavior` of a contract is unknown, or does not fit `write_expected_when`.",
    why="Whether a worker that wrote nothing has succeeded is decided by these fields.",
    hint="Write `always`, `none`, or `conditional` with patterns in `write_expected_when`.",
    bad=example(_STEPS, skills={"report": "write_behavior: conditional\n"}),
    good=example(_STEPS, skills={"report": "write_behavior: conditional\nwrite_expected_when: [changed]\n"}),
    run=run,
)
