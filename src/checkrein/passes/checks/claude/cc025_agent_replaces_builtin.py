"""Agents that take the place of a built-in one."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.agents:
        if not item.plugin and item.name in claude.BUILTIN_AGENTS:
            origin = subject.find(field(item, "name"), item.name)
            yield Finding(origin=origin, message=f"The agent `{item.name}` replaces the built-in one")


CHECK = Check(
    code="CC025",
    name="agent-replaces-builtin",
    severity="warning",
    summary="An agent has the name of a built-in one.",
    why="Claude Code starts this agent in place of its own.",
    hint="Choose another name, unless that is what you want.",
    bad={".claude/agents/explore.md": agent(name="Explore")},
    good={AGENT: agent()},
    run=run,
)
