"""Skills that fork as an agent which does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, SKILL, agent, skill
from checkrein.passes.checks.parts import agent_names, invocables, names_agent


def run(subject: Subject) -> Iterator[Finding]:
    known = agent_names(subject.project)
    for item in invocables(subject.project):
        if item.context is None or not item.agent or names_agent(item.agent, known, item.plugin):
            continue
        origin = subject.find(item.where("agent"), item.agent)
        meant = nearest(item.agent, known, 0.75)
        fix = edits.respell(subject, origin, item.agent, meant) if meant else None
        message = f"`{item.name}` runs as the agent `{item.agent}`, which does not exist"
        yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="XP001",
    name="fork-agent-missing",
    severity="error",
    summary="A skill with `context: fork` names an agent that does not exist.",
    why="The skill fails when someone uses it.",
    hint="Name an agent of the project or a built-in one such as Explore or general-purpose.",
    bad={SKILL: skill("context: fork", "agent: testr"), AGENT: agent()},
    good={SKILL: skill("context: fork", "agent: tester"), AGENT: agent()},
    run=run,
    whole=True,
    fixable=True,
)
