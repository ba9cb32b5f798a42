"""Variables in a server entry that stay as written when unset."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.secrets import is_secret_name
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(:-[^}]{0,512})?\}")
_GIVEN = (
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PROJECT_DIR",
    "HOME",
    "USER",
    "PWD",
    "PATH",
    "TMPDIR",
)


def run(subject: Subject) -> Iterator[Finding]:
    env = subject.project.setting("env", {})
    for server in servers(subject.project):
        places = [("command", server.command or ""), ("url", server.url or "")]
        places += [("args", text) for text in server.args]
        for key, text in places:
            for match in _VARIABLE.finditer(text):
                name = match[1]
                if match[2] or name in _GIVEN or name in env or is_secret_name(name):
                    continue
                origin = subject.find(field(server, key), match[0])
                message = (
                    f"`{match[0]}` of the server `{server.name}` has no default; unset, it stays as written"
                )
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="MCP007",
    name="server-variable-without-default",
    severity="info",
    summary="A server's command or address uses a variable without a default.",
    why="If the variable is not set, the server gets the text `${NAME}` itself and fails with an odd error.",
    hint="Give a default: `${NAME:-value}`, or set it in `env` of the settings.",
    bad={MCP: server_file({"type": "http", "url": "https://${TRACKER_HOST}/mcp"}), **uses()},
    good={
        MCP: server_file({"type": "http", "url": "https://${TRACKER_HOST:-tracker.example.com}/mcp"}),
        **uses(),
    },
    run=run,
)
