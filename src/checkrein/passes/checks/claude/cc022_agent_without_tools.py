"""Agents without any tool."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.foreign_tools import product_of
from checkrein.passes.checks import toolnames
from checkrein.passes.checks.agentpools import tools_of
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    main = subject.project.setting("agent")
    for item in subject.project.sources.agents:
        kind, found = tools_of(item, subject)
        if found.names or (found.dropped and item.name == main):
            continue
        where = "disallowedTools" if kind.tools is None else "tools"
        message = f"No tool of the agent `{item.name}` exists; it can't start"
        if kind.tools is not None and not kind.tools:
            message = f"`tools` of the agent `{item.name}` is empty; it can't start"
        elif found.dropped:
            names = ", ".join(f"`{one.name}` ({one.why})" for one in found.dropped)
            message = f"The agent `{item.name}` can't start: it has no tool but {names}"
        elif kind.tools is None or any(toolnames.is_known(name, subject) for name in kind.tools):
            message = f"`disallowedTools` removes every tool of the agent `{item.name}`; it can't start"
        else:
            products = sorted({product for name in kind.tools if (product := product_of(name))})
            if products:
                message += f": these are names of {' and '.join(products)}"
        yield Finding(origin=field(item, where), message=message)


CHECK = Check(
    code="CC022",
    name="agent-without-tools",
    severity="error",
    summary="An agent has no tool left.",
    why="Claude Code refuses to start an agent when none of its tools exists, or when only the main "
    "conversation has them.",
    hint="List tools that exist, or remove `tools` to give it all of them.",
    bad={AGENT: agent("tools: [search, execute]")},
    good={AGENT: agent("tools: Read, Grep")},
    run=run,
)
