"""Agents without any tool."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.rule import split_rule
from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.agents:
        if item.tools is None:
            continue
        taken = {split_rule(text)[0] for text in item.disallowed_tools if split_rule(text)[1] is None}
        names = [split_rule(text)[0] for text in item.tools]
        if any(toolnames.is_known(name, subject) and name not in taken for name in names):
            continue
        message = f"No tool of the agent `{item.name}` exists; it can't start"
        if not names:
            message = f"`tools` of the agent `{item.name}` is empty; it can't start"
        elif any(toolnames.is_known(name, subject) for name in names):
            message = f"`disallowedTools` removes every tool of the agent `{item.name}`; it can't start"
        yield Finding(origin=field(item, "tools"), message=message)


CHECK = Check(
    code="CC022",
    name="agent-without-tools",
    severity="error",
    summary="An agent has no tool left.",
    why="Claude Code refuses to start an agent when none of its tools exists.",
    hint="List tools that exist, or remove `tools` to give it all of them.",
    bad={AGENT: agent("tools: [search, execute]")},
    good={AGENT: agent("tools: Read, Grep")},
    run=run,
)
