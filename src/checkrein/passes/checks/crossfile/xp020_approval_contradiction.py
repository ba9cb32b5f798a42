"""Servers that are both enabled and disabled."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, SETTINGS, document, server_file
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    refused = {
        setting.value: setting
        for setting in named(subject, "disabledMcpjsonServers")
        if isinstance(setting.value, str)
    }
    for setting in named(subject, "enabledMcpjsonServers"):
        other = refused.get(setting.value) if isinstance(setting.value, str) else None
        if other is not None:
            message = (
                f"The server `{setting.value}` is enabled here and disabled in {other.origin}; it stays off"
            )
            yield Finding(origin=setting.origin, message=message, related=(other.origin,))


CHECK = Check(
    code="XP020",
    name="approval-contradiction",
    severity="warning",
    summary="A server is both enabled and disabled.",
    why="The disabled entry wins, so the enabled one does nothing.",
    hint="Remove one of the two entries.",
    bad={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: document({"enabledMcpjsonServers": ["tracker"], "disabledMcpjsonServers": ["tracker"]}),
    },
    good={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: document({"enabledMcpjsonServers": ["tracker"]}),
        "CLAUDE.md": "Issues are in the tracker.\n",
    },
    run=run,
)
