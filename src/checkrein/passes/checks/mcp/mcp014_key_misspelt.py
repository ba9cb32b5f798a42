"""Keys of a server entry that are almost a known one."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks import misspelt
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        written = ((name, field(server, name)) for name in server.unknown)
        yield from misspelt.keys(subject, written, claude.SERVER_KEYS, server.spans, "a server", close=0.75)


CHECK = Check(
    code="MCP014",
    name="server-key-misspelt",
    severity="warning",
    summary="A key of a server entry is misspelt.",
    why="Claude Code silently ignores unknown keys.",
    hint="Correct the name.",
    bad={MCP: server_file({"command": "tracker-mcp", "arg": ["--stdio"]}), **uses()},
    good={MCP: server_file({"command": "tracker-mcp", "args": ["--stdio"]}), **uses()},
    run=run,
    fixable=True,
)
