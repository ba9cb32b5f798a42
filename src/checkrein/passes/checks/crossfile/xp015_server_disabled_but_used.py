"""References to servers that are switched off."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Server
from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, MCP, SETTINGS, agent, document, server_file
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    off = {
        candidate.item.name: (candidate.item, candidate.lost)
        for candidate in project.inactive
        if isinstance(candidate.item, Server) and candidate.item.name not in project.servers
    }
    seen: set[str] = set()
    for mention in toolnames.mentions(project):
        name = toolnames.server_of(mention.tool)
        if name is None or name not in off or mention.where == "permissions.deny" or name in seen:
            continue
        seen.add(name)
        origin = subject.find(mention.origin, mention.tool)
        message = f"`{mention.text}` needs the server `{name}`, which is off: {off[name][1]}"
        yield Finding(origin=origin, message=message, related=(top(off[name][0]),))


CHECK = Check(
    code="XP015",
    name="server-disabled-but-used",
    severity="warning",
    summary="A rule, skill or agent refers to a server that is switched off.",
    why="Its tools are missing; anything that needs them fails.",
    hint="Switch the server on, or remove the reference.",
    bad={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: document({"disabledMcpjsonServers": ["tracker"]}),
        AGENT: agent("tools: Read, mcp__tracker__list"),
    },
    good={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: document({"enabledMcpjsonServers": ["tracker"]}),
        AGENT: agent("tools: Read, mcp__tracker__list"),
    },
    run=run,
)
