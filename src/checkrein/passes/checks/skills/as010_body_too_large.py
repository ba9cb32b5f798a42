"""A skill body that compaction cuts."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import agent_skills
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.prose import body_start, tokens


def run(subject: Subject) -> Iterator[Finding]:
    limit = agent_skills.BODY_TOKENS
    for item in subject.project.sources.skills:
        size = tokens(item.body)
        if size > limit:
            message = (
                f"The body of the skill `{item.name}` is about {size:,} tokens; {limit:,} survive compaction"
            )
            yield Finding(origin=body_start(item), message=message)


CHECK = Check(
    code="AS010",
    name="body-too-large",
    severity="warning",
    summary="A skill's body is larger than about 5,000 tokens.",
    why="Compaction keeps only the first 5,000 tokens of a used skill; the rest is silently lost.",
    hint="Put what matters first and move details into files beside SKILL.md.",
    bad={
        SKILL: skill(
            body=("Look at every name, every branch and every test of the change. " * 3 + "\n") * 120
        )
    },
    good={
        SKILL: skill(body=("Look at every name, every branch and every test of the change. " * 3 + "\n") * 90)
    },
    run=run,
)
