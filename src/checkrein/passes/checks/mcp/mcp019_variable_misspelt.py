"""Variables in a form that Claude Code does not expand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.model.items import Server
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers

_OTHER = re.compile(
    r"(?<![\w$\\])\$([A-Z_][A-Z0-9_]{2,})\b|\$\{env:(\w+)\}|\$\{input:([\w-]+)\}|\{\{(\w+)\}\}|%([A-Z_]{3,})%"
)


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        for key, text in _texts(server):
            match = _OTHER.search(text)
            if match is None:
                continue
            name = next(group for group in match.groups() if group)
            origin = subject.find(field(server, key), match[0])
            fix = None
            if match[3] is None:
                fix = edits.swap(
                    subject, origin, match[0], f"${{{name}}}", f"Write `${{{name}}}`", safe=False
                )
            message = f"`{match[0]}` of the server `{server.name}` is not replaced; only `${{NAME}}` is"
            yield Finding(origin=origin, message=message, fix=fix)
            break


def _texts(server: Server) -> Iterator[tuple[str, str]]:
    yield "command", server.command or ""
    yield "url", server.url or ""
    for key, values in (
        ("args", server.args),
        ("env", server.env.values()),
        ("headers", server.headers.values()),
    ):
        for value in values:
            yield key, value


CHECK = Check(
    code="MCP019",
    name="server-variable-form",
    severity="warning",
    summary="A server entry uses a variable in a form that Claude Code does not expand.",
    why="Claude Code replaces only `${NAME}` and `${NAME:-default}`. `$NAME`, `${env:NAME}` and `%NAME%` "
    "reach the server unchanged.",
    hint="Write `${NAME}`.",
    bad={
        MCP: server_file({"command": "tracker-mcp", "env": {"TRACKER_HOST": "${env:TRACKER_HOST}"}}),
        **uses(),
    },
    good={MCP: server_file({"command": "tracker-mcp", "env": {"TRACKER_HOST": "${TRACKER_HOST}"}}), **uses()},
    run=run,
    whole=True,
    fixable=True,
)
