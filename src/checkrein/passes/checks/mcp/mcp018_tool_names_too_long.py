"""Servers whose tools get names over the limit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import servers, top

_SHORTEST_TOOL = 16


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        prefix = f"mcp__{re.sub(r'[^A-Za-z0-9_-]', '_', server.name)}__"
        if len(prefix) + _SHORTEST_TOOL > claude.TOOL_NAME_CHARS:
            room = max(0, claude.TOOL_NAME_CHARS - len(prefix))
            message = f"Tools of the server `{server.name}` have {room} characters left for their names"
            yield Finding(origin=top(server), message=message)


_LONG = "issue-tracker-of-the-platform-team-for-internal-use"

CHECK = Check(
    code="MCP018",
    name="server-name-too-long",
    severity="warning",
    summary="A server's name leaves little room for the names of its tools.",
    why="A tool is called `mcp__server__tool`, and models take names of up to 64 characters; they refuse or "
    "cut longer ones.",
    hint="Shorten the server's name.",
    bad={MCP: server_file({"command": "tracker-mcp"}, name=_LONG), **uses(_LONG)},
    good={MCP: server_file({"command": "tracker-mcp"}), **uses()},
    run=run,
)
