"""Servers that are both local and remote."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        if server.command and server.url:
            used, other = ("command", "url") if server.transport == "stdio" else ("url", "command")
            message = f"The server `{server.name}` has `command` and `url`; only `{used}` is used"
            yield Finding(origin=field(server, other), message=message)


CHECK = Check(
    code="MCP002",
    name="server-command-and-url",
    severity="warning",
    summary="A server has both `command` and `url`.",
    why="`type` decides which one Claude Code uses; it ignores the other.",
    hint="Keep the one you mean.",
    bad={MCP: server_file({"command": "tracker-mcp", "url": "https://tracker.example.com/mcp"}), **uses()},
    good={MCP: server_file({"command": "tracker-mcp"}), **uses()},
    run=run,
    dialects="all",
)
