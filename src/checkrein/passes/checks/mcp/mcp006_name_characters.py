"""Server names that rules can't spell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import servers, top

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        name = server.name.rpartition(":")[2] if server.plugin else server.name
        if name in claude.RESERVED_SERVERS:
            continue
        if not _NAME.fullmatch(name):
            message = f"The server name `{name}` holds characters other than letters, digits, `-` and `_`"
            yield Finding(origin=top(server), message=message)
        elif "__" in name:
            message = (
                f"The server name `{name}` holds `__`, which ends a server's name in `mcp__server__tool`"
            )
            yield Finding(origin=top(server), message=message)


CHECK = Check(
    code="MCP006",
    name="server-name-characters",
    severity="warning",
    summary="A server's name holds characters other than letters, digits, `-` and `_`.",
    why="In the names of its tools such characters become `_`. So rules and matchers with the name as "
    "written match nothing, and `claude mcp` refuses it.",
    hint="Rename it, for example `issue-tracker`.",
    bad={MCP: server_file({"command": "tracker-mcp"}, name="issue tracker"), **uses("issue tracker")},
    good={MCP: server_file({"command": "tracker-mcp"}), **uses()},
    run=run,
)
