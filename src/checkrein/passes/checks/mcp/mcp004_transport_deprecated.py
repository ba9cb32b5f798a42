"""Servers on the old transport."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        if server.transport == "sse":
            message = f"The server `{server.name}` uses the deprecated transport sse"
            yield Finding(origin=field(server, "type"), message=message)


CHECK = Check(
    code="MCP004",
    name="server-transport-deprecated",
    severity="info",
    summary="A server uses the transport sse.",
    why="The protocol replaced it with streamable HTTP; servers and clients are dropping it.",
    hint='Use `"type": "http"` if the server speaks it.',
    bad={MCP: server_file({"type": "sse", "url": "https://tracker.example.com/sse"}), **uses()},
    good={MCP: server_file({"type": "http", "url": "https://tracker.example.com/mcp"}), **uses()},
    run=run,
)
