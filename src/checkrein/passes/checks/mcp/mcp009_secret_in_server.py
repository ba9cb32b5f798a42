"""Secrets in server entries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.model.items import Server
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers
from checkrein.passes.checks.secretvalues import is_secret

_FLAG = re.compile(r"--?([\w-]+)=(.+)")


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        for key, name in _secrets(server):
            origin = field(server, key)
            shown = f"`{key}.{name}`" if name else f"`{key}`"
            message = f"{shown} of the server `{server.name}` holds what looks like a secret"
            yield Finding(origin=origin, message=message)


def _secrets(server: Server) -> Iterator[tuple[str, str]]:
    """(key, name) of each value that looks like a secret; the value itself never leaves this function."""
    for key, values in (("env", server.env), ("headers", server.headers)):
        for name, value in values.items():
            if is_secret(name, value):
                yield key, name
    if is_secret("", server.url):
        yield "url", ""
    previous = ""
    for text in server.args:
        flag = _FLAG.fullmatch(text)
        if is_secret("", text) or (flag and is_secret(flag[1], flag[2])):
            yield "args", ""
            return
        if previous.startswith("--") and not text.startswith("-") and is_secret(previous.lstrip("-"), text):
            yield "args", ""
            return
        previous = text


CHECK = Check(
    code="MCP009",
    name="secret-in-server",
    severity="warning",
    summary="A server entry holds what looks like a secret.",
    why="People commit and share the file; everyone who can read the repository can use the secret.",
    hint="Write `${NAME}` and set the variable outside, and replace the secret.",
    bad={
        MCP: server_file({"command": "tracker-mcp", "env": {"TRACKER_TOKEN": "3f9c1d77a2b84e60"}}),
        **uses(),
    },
    good={
        MCP: server_file({"command": "tracker-mcp", "env": {"TRACKER_TOKEN": "${TRACKER_TOKEN}"}}),
        **uses(),
    },
    run=run,
    dialects="all",
)
