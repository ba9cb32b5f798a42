"""Servers without encryption."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.addresses import host_of, is_plain_remote
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        if server.url and is_plain_remote(server.url):
            message = f"The server `{server.name}` at {host_of(server.url)} is used without encryption"
            yield Finding(origin=field(server, "url"), message=message)


CHECK = Check(
    code="MCP008",
    name="server-url-not-encrypted",
    severity="warning",
    summary="A server on another machine uses plain http.",
    why="Credentials and results travel without encryption, and anyone on the network may answer in the "
    "server's name.",
    hint="Use https.",
    bad={MCP: server_file({"type": "http", "url": "http://tracker.example.com/mcp"}), **uses()},
    good={MCP: server_file({"type": "http", "url": "http://localhost:8080/mcp"}), **uses()},
    run=run,
    dialects="all",
)
