"""Fields outside the Agent Skills standard."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import agent_skills
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill

_STANDARD = frozenset(agent_skills.FIELDS)


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        for name in item.spans:
            if name not in _STANDARD:
                message = f"`{name}` is not a field of the Agent Skills standard"
                yield Finding(origin=subject.find(item.where(name), name), message=message)


CHECK = Check(
    code="AS016",
    name="field-not-standard",
    severity="info",
    summary="A skill has a field that is not one of the standard's six.",
    why="Strict validators, claude.ai and the Skills API refuse a skill with any other field.",
    hint="Leave it out, or move it below `metadata`, to make the skill work everywhere.",
    bad={SKILL: skill("effort: high")},
    good={SKILL: skill("license: MIT")},
    run=run,
    dialects="all",
    profile="strict",
)
