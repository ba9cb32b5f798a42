"""A description over the standard's limit."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import agent_skills
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill


def run(subject: Subject) -> Iterator[Finding]:
    limit = agent_skills.DESCRIPTION_CHARS
    for item in subject.project.sources.skills:
        length = len(item.description or "")
        if length > limit:
            message = f"The description of `{item.name}` has {length:,} characters; the limit is {limit:,}"
            yield Finding(origin=item.where("description"), message=message)


CHECK = Check(
    code="AS003",
    name="description-too-long",
    severity="warning",
    summary="A skill's description is longer than 1,024 characters.",
    why="The Agent Skills standard and the Skills API refuse the skill; Claude Code loads it, but the "
    "listing has little room.",
    hint="Say what it does and when to use it in a few sentences; move the rest into the body.",
    bad={SKILL: skill(description="Use when a review is asked for. " + "It looks at names. " * 60)},
    good={SKILL: skill()},
    run=run,
    dialects="all",
)
