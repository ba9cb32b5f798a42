"""Servers with a name that Claude Code keeps for itself."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import servers, top


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        if not server.plugin and server.name in claude.RESERVED_SERVERS:
            yield Finding(origin=top(server), message=f"The server name `{server.name}` is reserved")


CHECK = Check(
    code="MCP005",
    name="server-name-reserved",
    severity="error",
    summary="A server has a reserved name.",
    why="Claude Code uses the name for its own server and does not load yours.",
    hint="Choose another name.",
    bad={MCP: server_file({"command": "tracker-mcp"}, name="workspace"), **uses("workspace")},
    good={MCP: server_file({"command": "tracker-mcp"}), **uses()},
    run=run,
)
