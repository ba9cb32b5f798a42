"""Commands of skills without a slash."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.steps:
            text = (step.skill_command or "").strip()
            if text and not text.startswith(("/", "${{")):
                message = f"`{step.name}` runs `{text.split()[0]}`; a skill's command begins with `/`"
                yield Finding(origin=step.where("with.skill_command"), message=message)


CHECK = Check(
    code="RCP056",
    name="skill-command-missing-prefix",
    severity="warning",
    summary="A `skill_command` does not begin with `/`.",
    why="It names no skill, so the worker is refused.",
    hint="Begin it with `/` and the skill's name.",
    bad=example("look: {tool: run_skill, with: {skill_command: review-changes, cwd: .}}"),
    good=example("look: {tool: run_skill, with: {skill_command: /review-changes, cwd: .}}"),
    run=run,
)
