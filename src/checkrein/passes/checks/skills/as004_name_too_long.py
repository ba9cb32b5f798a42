"""A skill name over the standard's limit."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.facts import agent_skills
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        name = item.display_name or os.path.basename(item.directory)
        if len(name) > agent_skills.NAME_CHARS:
            message = (
                f"The name of the skill has {len(name)} characters; the limit is {agent_skills.NAME_CHARS}"
            )
            yield Finding(origin=field(item, "name"), message=message)


_LONG = "review-every-change-of-the-billing-service-before-it-is-merged-to-main"

CHECK = Check(
    code="AS004",
    name="name-too-long",
    severity="warning",
    summary="A skill's name is longer than 64 characters.",
    why="The Agent Skills standard and the Skills API refuse it.",
    hint="Shorten the name, and the folder's with it.",
    bad={f".claude/skills/{_LONG}/SKILL.md": skill(name=_LONG)},
    good={SKILL: skill()},
    run=run,
    dialects="all",
)
