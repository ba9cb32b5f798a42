"""Servers that another of the same name replaces."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    for resolved in subject.project.servers.values():
        winner = resolved.item
        for candidate in resolved.shadowed:
            loser = candidate.item
            if (loser.command, loser.args, loser.url) == (winner.command, winner.args, winner.url):
                continue
            message = f"The server `{loser.name}` is not used: {candidate.lost}"
            yield Finding(origin=top(loser), message=message, related=(top(winner),))


CHECK = Check(
    code="XP011",
    name="server-shadowed",
    severity="warning",
    summary="Another server with the same name replaces this one.",
    why="The whole entry wins; Claude Code merges nothing. Rules for the name now apply to another program.",
    hint="Rename one of them.",
    bad={
        MCP: server_file({"command": "tracker-mcp"}),
        "~/.claude.json": server_file({"command": "other-tracker"}),
        **uses(),
    },
    good={
        MCP: server_file({"command": "tracker-mcp"}),
        "~/.claude.json": server_file({"command": "wiki-mcp"}, name="wiki"),
        **uses(),
    },
    run=run,
)
