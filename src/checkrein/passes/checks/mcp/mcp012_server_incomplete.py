"""Servers without a program or an address."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import servers, top


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        if server.problem and server.transport in claude.TRANSPORTS and not server.url and not server.command:
            yield Finding(origin=top(server), message=f"The server `{server.name}` {server.problem}")


CHECK = Check(
    code="MCP012",
    name="server-incomplete",
    severity="error",
    summary="A server has neither `command` nor `url`.",
    why="There is nothing to start or to connect to; Claude Code skips the server.",
    hint="Add `command`, or `type` and `url`.",
    bad={MCP: server_file({"args": ["--port", "8080"]}), **uses()},
    good={MCP: server_file({"command": "tracker-mcp", "args": ["--port", "8080"]}), **uses()},
    run=run,
    dialects="all",
)
