"""Texts that give work to an agent that does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, SKILL, agent, skill
from checkrein.passes.checks.parts import agent_names, bodies, names_agent
from checkrein.passes.checks.prose import spot, teaches

_MENTION = re.compile(r"(?<![\w`/])@agent-([\w:-]+)|subagent_type[ \t]*[:=][ \t]*[\"'`]([\w:-]+)[\"'`]")


def run(subject: Subject) -> Iterator[Finding]:
    known = agent_names(subject.project)
    for item in bodies(subject.project):
        if "@agent-" not in item.body and "subagent_type" not in item.body:
            continue
        seen: set[str] = set()
        for hit in subject.body(item).hits(_MENTION, "@agent-", "subagent_type"):
            name = hit.match[1] or hit.match[2]
            if name in seen or names_agent(name, known, item.plugin) or ":" in name:
                continue
            seen.add(name)
            suggestion = nearest(name, known, 0.75)
            if not suggestion and (teaches(item) or not subject.project.sources.agents):
                continue  # an example of an agent, or the project keeps its agents elsewhere
            message = f"There is no agent `{name}`" + (f"; did you mean `{suggestion}`" if suggestion else "")
            yield Finding(origin=spot(item, hit.line.number, hit.start, hit.end), message=message)


CHECK = Check(
    code="XP019",
    name="agent-mention-missing",
    severity="warning",
    summary="A skill, command or agent gives work to an agent that does not exist.",
    why="The start fails with an error, and the model does the work itself or gives up.",
    hint="Correct the name, or add the agent.",
    bad={AGENT: agent(), SKILL: skill(body="Start @agent-testr and wait.\n")},
    good={AGENT: agent(), SKILL: skill(body="Start @agent-tester and wait.\n")},
    run=run,
    whole=True,
)
