"""A `compatibility` over the standard's limit."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import agent_skills
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill


def run(subject: Subject) -> Iterator[Finding]:
    limit = agent_skills.COMPATIBILITY_CHARS
    for item in subject.project.sources.skills:
        length = len(item.compatibility or "")
        if length > limit:
            message = (
                f"`compatibility` of the skill `{item.name}` has {length} characters; the limit is {limit}"
            )
            yield Finding(origin=item.where("compatibility"), message=message)


CHECK = Check(
    code="AS015",
    name="compatibility-too-long",
    severity="warning",
    summary="A skill's `compatibility` is longer than 500 characters.",
    why="Agents that follow the Agent Skills standard refuse the skill.",
    hint="Say in one sentence what the skill needs.",
    bad={SKILL: skill("compatibility: " + "Needs git and a shell. " * 23)},
    good={SKILL: skill("compatibility: Needs git and a shell.")},
    run=run,
    dialects="all",
)
