"""`Agent(...)` limits that do not apply in a subagent."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent


def run(subject: Subject) -> Iterator[Finding]:
    main = subject.project.setting("agent")
    for item in subject.project.sources.agents:
        for mention in toolnames.listed(item):
            limits = mention.tool in ("Agent", "Task") and mention.specifier and mention.where == "tools"
            if limits and item.name != main:
                origin = subject.find(mention.origin, mention.text)
                message = f"`{mention.text}` limits the agent `{item.name}` only when it is the main agent"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="CC027",
    name="agent-types-not-limited",
    severity="info",
    summary="`Agent(type)` in `tools` applies only to the main agent.",
    why="Started as a subagent, it may start any type of agent.",
    hint="Deny the types it must not start: `Agent(name)` in `permissions.deny`.",
    bad={AGENT: agent("tools: Read, Agent(Explore)")},
    good={AGENT: agent("tools: Read, Agent")},
    run=run,
)
