"""Approvals of project servers that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, SETTINGS, document, server_file
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    names = {server.name for server in subject.project.sources.servers}
    for setting in named(subject, "enabledMcpjsonServers", "disabledMcpjsonServers"):
        if isinstance(setting.value, str) and setting.value not in names:
            suggestion = nearest(setting.value, names, 0.7)
            message = f"`{setting.name}` names `{setting.value}`, which is not a server of {claude.MCP_FILE}"
            yield Finding(
                origin=setting.origin,
                message=message + (f"; did you mean `{suggestion}`" if suggestion else ""),
            )


CHECK = Check(
    code="XP014",
    name="approval-server-missing",
    severity="warning",
    summary="`enabledMcpjsonServers` or `disabledMcpjsonServers` names a server that does not exist.",
    why="The entry does nothing now, but will apply to any server that gets that name later.",
    hint="Correct the name or remove it.",
    bad={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: document({"enabledMcpjsonServers": ["trackr"], "permissions": {"ask": ["mcp__tracker"]}}),
    },
    good={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: document({"enabledMcpjsonServers": ["tracker"], "permissions": {"ask": ["mcp__tracker"]}}),
    },
    run=run,
    whole=True,
)
