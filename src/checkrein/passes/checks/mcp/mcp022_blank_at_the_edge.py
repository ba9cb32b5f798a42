"""Values of servers that begin or end with a blank."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Server
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        for key, what in _blank(server):
            message = (
                f"{what} of the server `{server.name}` begins or ends with a blank, and nobody removes it"
            )
            yield Finding(origin=field(server, key), message=message)


def _blank(server: Server) -> Iterator[tuple[str, str]]:
    """The key that holds such a value, and what the value is; never the value, which may be a secret."""
    for key, value in (("command", server.command), ("url", server.url)):
        if value and value != value.strip():
            yield key, f"`{key}`"
    for number, text in enumerate(server.args, 1):
        if text.strip() and text != text.strip():
            yield "args", f"argument {number}"
    for key, values in (("env", server.env), ("headers", server.headers)):
        for name, value in values.items():
            if value.strip() and value != value.strip():
                yield key, f"`{name}` in `{key}`"


CHECK = Check(
    code="MCP022",
    name="server-value-with-blank",
    severity="warning",
    summary="A value of a server begins or ends with a blank.",
    why="Such a blank often comes with a copied token or address. Nobody removes it, so the program is not "
    "found or the server refuses the request, and the reason can't be seen.",
    hint="Remove the blank.",
    bad={
        MCP: server_file({"command": "tracker-mcp", "env": {"TRACKER_HOST": "tracker.example.com\n"}}),
        **uses(),
    },
    good={
        MCP: server_file({"command": "tracker-mcp", "env": {"TRACKER_HOST": "tracker.example.com"}}),
        **uses(),
    },
    run=run,
)
