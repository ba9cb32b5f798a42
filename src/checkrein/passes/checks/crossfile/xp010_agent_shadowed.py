"""Agents that another of the same name replaces."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent
from checkrein.passes.checks.parts import field, top


def run(subject: Subject) -> Iterator[Finding]:
    for resolved in subject.project.agents.values():
        winner = resolved.item
        for candidate in resolved.shadowed:
            loser = candidate.item
            if (loser.body.strip(), loser.tools, loser.description) == (
                winner.body.strip(),
                winner.tools,
                winner.description,
            ):
                continue
            origin = subject.find(field(loser, "name"), loser.name)
            message = f"The agent `{loser.name}` is not used: {candidate.lost}"
            yield Finding(origin=origin, message=message, related=(top(winner),))


CHECK = Check(
    code="XP010",
    name="agent-shadowed",
    severity="warning",
    summary="Another agent with the same name replaces this one.",
    why="Each name has one agent: the project's wins over the user's. Between files of one directory the "
    "order of the file system decides.",
    hint="Rename one of them.",
    bad={AGENT: agent(), ".claude/agents/other.md": agent(body="You break the tests.\n")},
    good={AGENT: agent(), ".claude/agents/other.md": agent(name="other")},
    run=run,
)
