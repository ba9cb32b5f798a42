"""Skills that an agent can't start with."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, SKILL, agent, skill
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    for item in project.sources.agents:
        for name in item.skills:
            found = project.skills.get(name) or project.skills.get(f"{item.plugin}:{name}")
            if found is not None and not found.item.model_invocable:
                origin = subject.find(item.where("skills"), name)
                message = (
                    f"The agent `{item.name}` can't start with `{name}`: the model may not use that skill"
                )
                yield Finding(origin=origin, message=message, related=(top(found.item),))


CHECK = Check(
    code="XP003",
    name="agent-skill-not-preloaded",
    severity="warning",
    summary="An agent's `skills` names a skill with `disable-model-invocation`.",
    why="Such a skill is for people only. Claude Code does not preload it, and the agent works without it.",
    hint="Remove the field from the skill, or the skill from the agent.",
    bad={AGENT: agent("skills: [review]"), SKILL: skill("disable-model-invocation: true")},
    good={AGENT: agent("skills: [review]"), SKILL: skill()},
    run=run,
)
