"""Servers whose script does not exist."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import servers, top
from checkrein.passes.checks.scripts import script_in


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    for server in servers(project):
        if not server.command or server.transport != "stdio":
            continue
        script = script_in([server.command, *server.args], project, server.plugin)
        rooted = script is not None and ("${CLAUDE_" in script.word or script.word.startswith(("./", "../")))
        if script is None or not rooted or script.exists or _is_built(script.path):
            continue
        origin = subject.find(top(server), script.word)
        message = f"The server `{server.name}` runs `{script.word}`, which does not exist"
        hint = None if subject.dialect is None else "Add the script or correct the path."
        yield Finding(origin=origin, message=message, hint=hint)


def _is_built(path: str) -> bool:
    """Files that a build makes may be missing in a fresh checkout."""
    return any(
        folder in path.split(os.sep) for folder in ("dist", "build", "out", "node_modules", "target", ".venv")
    )


CHECK = Check(
    code="MCP016",
    name="server-script-missing",
    severity="error",
    summary="A server runs a script that does not exist.",
    why="The server fails at the start of every session.",
    hint="Add the script or correct the path; start it with `${CLAUDE_PROJECT_DIR:-.}`.",
    bad={MCP: server_file({"command": "python3", "args": ["./tools/tracker.py"]}), **uses()},
    good={
        MCP: server_file({"command": "python3", "args": ["./tools/tracker.py"]}),
        "tools/tracker.py": "pass\n",
        **uses(),
    },
    run=run,
    dialects="all",
)
