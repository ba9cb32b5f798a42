"""Fields that have no effect in the agents of plugins."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_fields
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, agent, manifest


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.agents:
        for name in claude_fields.PLUGIN_AGENT_IGNORED if item.plugin else ():
            if name in item.unknown:
                message = f"`{name}` of the plugin agent `{item.name}` is ignored"
                yield Finding(origin=subject.find(item.where(name), name), message=message)


CHECK = Check(
    code="CC020",
    name="plugin-agent-field-ignored",
    severity="warning",
    summary="An agent of a plugin has `hooks`, `mcpServers` or `permissionMode`.",
    why="A plugin may not widen what its agents do, so Claude Code ignores these fields. A `permissionMode: "
    "plan` does not limit the agent.",
    hint="Limit the agent with `tools`; put hooks and servers into the plugin itself.",
    bad={PLUGIN: manifest(), "agents/tester.md": agent("permissionMode: plan")},
    good={PLUGIN: manifest(), "agents/tester.md": agent("tools: Read, Grep")},
    run=run,
)
