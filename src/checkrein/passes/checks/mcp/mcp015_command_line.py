"""A whole command line in place of a program's name."""

from __future__ import annotations

import json
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        command = server.command or ""
        if " " not in command.strip() or server.args or command.startswith(("/", "~", '"', "$", ".")):
            continue
        program, *rest = command.split()
        origin = subject.find(field(server, "command"), command)
        hint = f"Write `command` as {json.dumps(program)} and `args` as {json.dumps(rest)}."
        message = f"`command` of the server `{server.name}` is a whole command line"
        yield Finding(origin=origin, message=message, hint=hint)


CHECK = Check(
    code="MCP015",
    name="server-command-line",
    severity="error",
    summary="A server's `command` holds its arguments too.",
    why="`command` is the name of one program; no shell splits it, so the server does not start.",
    hint="Put the words after the program into `args`.",
    bad={MCP: server_file({"command": "tracker-mcp --stdio"}), **uses()},
    good={MCP: server_file({"command": "tracker-mcp", "args": ["--stdio"]}), **uses()},
    run=run,
    dialects="all",
)
