"""Server timeouts that look like seconds."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        value = server.unknown.get("timeout")
        if isinstance(value, int) and not isinstance(value, bool):
            least = claude.SERVER_TIMEOUT_MIN_MS
            origin = field(server, "timeout")
            fix = edits.swap(
                subject, origin, str(value), str(value * 1000), f"Write {value * 1000}", safe=False
            )
            message = (
                f"`timeout: {value}` of the server `{server.name}` is "
                f"ignored; it is in milliseconds, from {least:,} on"
            )
            yield Finding(origin=origin, message=message, fix=fix if value > 0 else None)


CHECK = Check(
    code="MCP013",
    name="server-timeout-ignored",
    severity="warning",
    summary="A server's timeout is below one second.",
    why="Timeouts of servers are in milliseconds, and Claude Code ignores values under 1,000. Timeouts of "
    "hooks are in seconds.",
    hint="Give milliseconds: 30 seconds are 30000.",
    bad={MCP: server_file({"command": "tracker-mcp", "timeout": 30}), **uses()},
    good={MCP: server_file({"command": "tracker-mcp", "timeout": 30000}), **uses()},
    run=run,
    fixable=True,
)
