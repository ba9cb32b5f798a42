"""Servers whose program is not on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from checkrein.model.items import Server
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers


def run(subject: Subject) -> Iterator[Finding]:
    root = subject.project.place.root
    for server in servers(subject.project):
        command = server.command or ""
        if server.transport != "stdio" or server.problem or not command or "$" in command:
            continue
        if " " in command.strip() or _starts(server, command, root):
            continue
        origin = subject.find(field(server, "command"), command)
        what = "does not exist" if os.sep in command else "is not on the PATH"
        yield Finding(origin=origin, message=f"The program of the server `{server.name}` {what}")


def _starts(server: Server, command: str, root: str) -> bool:
    if os.sep in command:
        return os.access(os.path.join(root, server.cwd or "", command), os.X_OK)
    path = server.env.get("PATH")
    return shutil.which(command, path=None if path is None or "$" in path else path) is not None


CHECK = Check(
    code="MCP020",
    name="server-command-unreachable",
    severity="warning",
    summary="A server's program is not on this machine.",
    why="The server fails at the start of every session here. Another machine may have the program, so the "
    "check runs only when it is selected.",
    hint="Install the program, or correct `command`. No shell reads it: `~` and aliases do not work.",
    bad={MCP: server_file({"command": "tracker-mcp-that-nobody-has"}), **uses()},
    good={MCP: server_file({"command": "sh", "args": ["-c", "exec ./tracker"]}), **uses()},
    run=run,
    whole=True,
    profile="strict",
)
