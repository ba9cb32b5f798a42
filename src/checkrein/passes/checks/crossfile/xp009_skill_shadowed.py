"""Skills and commands that another scope replaces."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Command, Skill
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import noun, top


def run(subject: Subject) -> Iterator[Finding]:
    for group in (subject.project.skills, subject.project.commands):
        for resolved in group.values():
            for candidate in resolved.shadowed:
                yield from _shadowed(resolved.item, candidate.item)


def _shadowed(winner: Skill | Command, loser: Skill | Command) -> Iterator[Finding]:
    if _content(winner) == _content(loser):
        return
    kind = noun(loser)
    message = (
        f"The {winner.origin.scope}'s {kind} `{loser.name}` is used "
        "instead of this one, and says something else"
    )
    yield Finding(origin=top(loser), message=message, related=(top(winner),))


def _content(item: Skill | Command) -> object:
    return (item.body.strip(), item.description, item.allowed_tools, item.disallowed_tools, item.model)


CHECK = Check(
    code="XP009",
    name="skill-shadowed",
    severity="warning",
    summary="Another skill with the same name and other content replaces this one.",
    why="The user's skill wins over the project's, so two people in one project get different skills under "
    "the same name.",
    hint="Rename one of them.",
    bad={SKILL: skill(), "~/.claude/skills/review/SKILL.md": skill(body="Praise the diff.\n")},
    good={
        SKILL: skill(),
        "~/.claude/skills/praise/SKILL.md": skill(
            name="praise", description="Praise a change. Use when the user asks for it."
        ),
    },
    run=run,
)
