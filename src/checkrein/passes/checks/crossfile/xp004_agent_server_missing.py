"""Servers that an agent names but that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, MCP, agent, server_file, uses


def run(subject: Subject) -> Iterator[Finding]:
    known = frozenset(server.name for server in subject.project.sources.servers)
    for item in subject.project.sources.agents:
        for name in item.server_names:
            if name in known:
                continue
            origin = subject.find(item.where("mcpServers"), name)
            meant = nearest(name, known, 0.75)
            fix = edits.respell(subject, origin, name, meant) if meant else None
            message = f"The agent `{item.name}` names the server `{name}`, which is not configured"
            yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="XP004",
    name="agent-server-missing",
    severity="warning",
    summary="An agent's `mcpServers` names a server that is not configured.",
    why="The agent runs without the server's tools.",
    hint="Correct the name, or add the server to .mcp.json.",
    bad={AGENT: agent("mcpServers: [trackr]"), MCP: server_file({"command": "tracker-mcp"}), **uses()},
    good={AGENT: agent("mcpServers: [tracker]"), MCP: server_file({"command": "tracker-mcp"}), **uses()},
    run=run,
    whole=True,
    fixable=True,
)
