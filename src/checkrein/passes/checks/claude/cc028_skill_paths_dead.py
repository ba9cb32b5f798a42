"""Patterns in a skill's `paths` that match nothing."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.globpatterns import dead_reason
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        for pattern in item.paths:
            reason = dead_reason(pattern)
            if reason:
                origin = subject.find(field(item, "paths"), pattern)
                message = f"The pattern `{pattern}` of the skill `{item.name}` {reason}"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="CC028",
    name="skill-paths-dead",
    severity="error",
    summary="A pattern in a skill's `paths` can match no file.",
    why="Claude Code lists a skill with `paths` only after a file matches. If its patterns match nothing, "
    "the model never uses it.",
    hint="Write the pattern relative to the project, such as `src/**/*.ts`.",
    bad={SKILL: skill('paths: "src/[a-z*.ts"')},
    good={SKILL: skill('paths: "src/[a-z]*.ts"')},
    run=run,
)
