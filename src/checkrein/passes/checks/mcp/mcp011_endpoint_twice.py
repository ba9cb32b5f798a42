"""Two servers that are the same."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Server
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, document, uses
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    seen: dict[object, Server] = {}
    for resolved in subject.project.servers.values():
        server = resolved.item
        if server.problem or (server.plugin and server.origin.scope == "plugin" and not server.command):
            continue
        endpoint = (
            (server.url,) if server.url else (server.command, server.args, tuple(sorted(server.env.items())))
        )
        first = seen.setdefault(endpoint, server)
        if first is not server and (first.plugin == server.plugin or first.origin.file != server.origin.file):
            message = f"The servers `{first.name}` and `{server.name}` are the same"
            yield Finding(origin=top(server), message=message, related=(top(first),))


CHECK = Check(
    code="MCP011",
    name="server-endpoint-twice",
    severity="warning",
    summary="Two servers start the same program or use the same address.",
    why="The model sees every tool twice, and a rule for one name does not apply to the other.",
    hint="Keep one of them.",
    bad={
        MCP: document(
            {"mcpServers": {"tracker": {"command": "tracker-mcp"}, "issues": {"command": "tracker-mcp"}}}
        ),
        **uses("tracker", "issues"),
    },
    good={
        MCP: document(
            {"mcpServers": {"tracker": {"command": "tracker-mcp"}, "wiki": {"command": "wiki-mcp"}}}
        ),
        **uses("tracker", "wiki"),
    },
    run=run,
)
