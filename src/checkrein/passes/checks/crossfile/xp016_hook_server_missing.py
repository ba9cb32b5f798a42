"""Hooks that call a server that is not configured."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, SETTINGS, hook_file, server_file
from checkrein.passes.checks.parts import field, hooks


def run(subject: Subject) -> Iterator[Finding]:
    known = {server.name for server in subject.project.sources.servers}
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.type != "mcp_tool" or not hook.server or hook.server in known:
            continue
        owner = hook.plugin
        if owner and f"plugin:{owner}:{hook.server}" in known:
            message = f"The `{hook.name}` hook must name its server `plugin:{owner}:{hook.server}`"
        else:
            message = f"The `{hook.name}` hook calls the server `{hook.server}`, which is not configured"
        yield Finding(origin=field(hook, "server"), message=message)


CHECK = Check(
    code="XP016",
    name="hook-server-missing",
    severity="error",
    summary="A hook calls a tool of a server that is not configured.",
    why="The hook fails, and a hook that fails blocks nothing.",
    hint="Correct the name, or add the server.",
    bad={
        MCP: server_file({"command": "tracker-mcp"}),
        "CLAUDE.md": "Issues are in the tracker.\n",
        SETTINGS: hook_file("Stop", {"type": "mcp_tool", "server": "trackr", "tool": "note"}),
    },
    good={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: hook_file("Stop", {"type": "mcp_tool", "server": "tracker", "tool": "note"}),
    },
    run=run,
    whole=True,
)
