"""Tools that an agent both lists and removes."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.agents:
        both = [text for text in item.tools or () if text in item.disallowed_tools]
        if both and len(both) < len(item.tools or ()):
            origin = subject.find(item.where("disallowedTools"), both[0])
            message = (
                f"The agent `{item.name}` lists `{both[0]}` in `tools` "
                "and in `disallowedTools`; the agent does not have it"
            )
            yield Finding(origin=origin, message=message)


CHECK = Check(
    code="CC023",
    name="agent-tool-taken-away",
    severity="warning",
    summary="An agent lists the same tool in `tools` and `disallowedTools`.",
    why="Claude Code applies `disallowedTools` first, and it wins.",
    hint="Remove it from one of the two.",
    bad={AGENT: agent("tools: Read, Write", "disallowedTools: Write")},
    good={AGENT: agent("tools: Read, Write", "disallowedTools: Bash")},
    run=run,
)
