"""Servers that nothing in the project refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file
from checkrein.passes.checks.parts import bodies, hooks, top


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    if not project.servers:
        return
    named = {toolnames.server_of(mention.tool) for mention in toolnames.mentions(project)}
    named |= {name for agent in project.sources.agents for name in agent.server_names}
    named |= {hooked.hook.server for hooked in hooks(project)}
    matchers = " ".join(hooked.hook.matcher or "" for hooked in hooks(project))
    plugin_files = {server.origin.file for server in project.sources.servers if server.plugin}
    every = any(mention.tool.startswith("mcp__*") for mention in toolnames.mentions(project))
    for name, resolved in project.servers.items():
        server = resolved.item
        if server.plugin or server.origin.scope != "project" or every or server.origin.file in plugin_files:
            continue
        if name in named or f"mcp__{name}" in matchers or _is_mentioned(subject, name):
            continue
        message = f"Nothing in the project refers to the server `{name}`"
        yield Finding(origin=top(server), message=message)


def _is_mentioned(subject: Subject, name: str) -> bool:
    """Whether any text that the model reads holds the name as a word."""
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])|mcp__{re.escape(name)}\b", re.IGNORECASE)
    texts = (item.body for item in bodies(subject.project))
    return any(word.search(text) for text in texts) or any(
        word.search(item.text) for item in subject.project.instructions
    )


CHECK = Check(
    code="MCP010",
    name="server-unused",
    severity="info",
    summary="Nothing refers to a server: no rule, skill, agent, hook or instruction.",
    why="It starts in every session, the model sees its tools, and each call needs approval.",
    hint="Remove it, or say what it is for: a rule such as `mcp__tracker`, or a line in CLAUDE.md.",
    bad={MCP: server_file({"command": "tracker-mcp"})},
    good={MCP: server_file({"command": "tracker-mcp"}), "CLAUDE.md": "Issues are in the tracker server.\n"},
    run=run,
    whole=True,
)
