"""Remote servers without a transport."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        if server.url and not server.command and "type" not in server.spans and server.problem:
            origin = field(server, "url")
            streams = server.url.rstrip("/").endswith("/sse")
            fix = (
                None
                if streams
                else edits.insert_at(origin, '"type": "http", ', 'Add `"type": "http"`', safe=False)
            )
            message = f"The server `{server.name}` has `url` but no `type`; it is skipped"
            yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="MCP001",
    name="server-type-missing",
    severity="error",
    summary="A server has `url` but no `type`.",
    why="Without `type` a server is a local program; one with a `url` is then an error, and Claude Code "
    "skips it.",
    hint='Add `"type": "http"`.',
    bad={MCP: server_file({"url": "https://tracker.example.com/mcp"}), **uses()},
    good={MCP: server_file({"type": "http", "url": "https://tracker.example.com/mcp"}), **uses()},
    run=run,
    fixable=True,
)
