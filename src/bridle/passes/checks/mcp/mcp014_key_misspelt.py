"""Keys of a server entry that are almost a known one."""

from __future__ import annotations

from collections.abc import Iterator

from bridle.base.nearest import nearest
from bridle.passes.checks import edits
from bridle.passes.checks.check import Check, Finding, Subject
from bridle.passes.checks.examples import (
    MCP,
    server_file,
    uses,
)
from bridle.passes.checks.parts import (
    field,
    servers,
)

_KNOWN = (
    "type",
    "command",
    "args",
    "env",
    "url",
    "headers",
    "headersHelper",
    "oauth",
    "timeout",
    "alwaysLoad",
    "cwd",
)


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        for name in server.unknown:
            meant = None if name in _KNOWN else nearest(name, _KNOWN, 0.75)
            if meant is None:
                continue
            origin = field(server, name)
            fix = edits.rename(subject, origin, name, meant) if meant not in server.spans else None
            message = f"`{name}` of the server `{server.name}` is no key of a server; did you mean `{meant}`"
            yield Finding(origin=subject.find(origin, name), message=message, fix=fix)


CHECK = Check(
    code="MCP014",
    name="server-key-misspelt",
    severity="warning",
    summary="A key of a server entry is misspelt.",
    why="Unknown keys are ignored without a word.",
    hint="Correct the name.",
    bad={MCP: server_file({"command": "tracker-mcp", "arg": ["--stdio"]}), **uses()},
    good={MCP: server_file({"command": "tracker-mcp", "args": ["--stdio"]}), **uses()},
    run=run,
    fixable=True,
)
