"""Servers with a transport that does not exist."""

from __future__ import annotations

import json
from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.facts import claude
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    known = (*claude.TRANSPORTS, *claude.TRANSPORT_ALIASES)
    for server in servers(subject.project):
        if server.transport in claude.TRANSPORTS:
            continue
        origin = field(server, "type")
        meant = nearest(server.transport, known, 0.6)
        fix = None
        if meant:
            old = json.dumps(server.transport)
            fix = edits.swap(subject, origin, old, json.dumps(meant), f"Write `{meant}`", safe=False)
        message = f"The server `{server.name}` has the transport `{server.transport}`; it is skipped"
        yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="MCP003",
    name="server-transport-unknown",
    severity="error",
    summary="A server's `type` is not stdio, http, sse or ws.",
    why="Claude Code skips the server.",
    hint="Use stdio for a program, http for an address.",
    bad={MCP: server_file({"type": "htpp", "url": "https://tracker.example.com/mcp"}), **uses()},
    good={MCP: server_file({"type": "http", "url": "https://tracker.example.com/mcp"}), **uses()},
    run=run,
    fixable=True,
)
