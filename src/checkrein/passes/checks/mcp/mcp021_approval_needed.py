"""Servers of a project that each person must approve."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, SETTINGS, document, server_file
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    if project.setting("enableAllProjectMcpServers") is True:
        return
    enabled = project.setting("enabledMcpjsonServers", [])
    for name, resolved in project.servers.items():
        server = resolved.item
        own = os.path.basename(server.origin.file) == claude.MCP_FILE and server.origin.scope == "project"
        if own and not server.plugin and not (isinstance(enabled, list) and name in enabled):
            yield Finding(origin=top(server), message=f"The server `{name}` needs approval by each person")


CHECK = Check(
    code="MCP021",
    name="server-approval-needed",
    severity="info",
    summary="A server of the project needs approval.",
    why="Claude Code asks each person before it uses a server of .mcp.json. Checkrein uses none until "
    "`checkrein trust`, which covers all that the project runs.",
    hint="Run `checkrein trust`; for Claude Code name the server in `enabledMcpjsonServers`.",
    bad={MCP: server_file({"command": "tracker-mcp"})},
    good={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: document({"enabledMcpjsonServers": ["tracker"]}),
    },
    run=run,
    whole=True,
    profile="strict",
)
