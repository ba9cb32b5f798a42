"""Skills that an agent starts with but that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, SKILL, agent, skill
from checkrein.passes.checks.parts import skill_names


def run(subject: Subject) -> Iterator[Finding]:
    known = skill_names(subject.project)
    for item in subject.project.sources.agents:
        for name in item.skills:
            if name in known or f"{item.plugin}:{name}" in known:
                continue
            origin = subject.find(item.where("skills"), name)
            meant = nearest(name, known, 0.75)
            fix = edits.respell(subject, origin, name, meant) if meant else None
            message = f"The agent `{item.name}` starts with the skill `{name}`, which does not exist"
            yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="XP002",
    name="agent-skill-missing",
    severity="warning",
    summary="An agent's `skills` names a skill that does not exist.",
    why="Claude Code skips it and notes that in the debug log only. The agent works without that knowledge.",
    hint="Correct the name or remove it.",
    bad={AGENT: agent("skills: [reviw]"), SKILL: skill()},
    good={AGENT: agent("skills: [review]"), SKILL: skill()},
    run=run,
    whole=True,
    fixable=True,
)
