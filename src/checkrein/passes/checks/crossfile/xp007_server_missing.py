"""Rules and lists about servers that are not configured."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.model.items import Agent, Command, Skill
from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, SETTINGS, document, server_file

_ELSEWHERE = ("claude_ai_", "plugin_", "ide", "claude-in-chrome", "computer-use")


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    own = {server.name for server in project.sources.servers}
    known = {re.sub(r"[^A-Za-z0-9_-]", "_", name) for name in own} | own
    seen: set[tuple[str, str]] = set()
    for mention in toolnames.mentions(project):
        name = toolnames.server_of(mention.tool)
        if name is None or name in known or name.startswith(_ELSEWHERE) or _brings(mention.owner, name):
            continue
        if mention.owner is not None and mention.owner.plugin:
            continue
        if (mention.origin.file, name) in seen:
            continue
        seen.add((mention.origin.file, name))
        origin = subject.find(mention.origin, mention.tool)
        suggestion = nearest(name, known, 0.7)
        message = f"`{mention.text}` names the server `{name}`, which is not configured here"
        yield Finding(
            origin=origin, message=message + (f"; did you mean `{suggestion}`" if suggestion else "")
        )


def _brings(owner: Skill | Command | Agent | None, name: str) -> bool:
    return isinstance(owner, Agent) and any(server.name == name for server in owner.servers)


CHECK = Check(
    code="XP007",
    name="server-not-configured",
    severity="warning",
    summary="A rule or tool list names a server that is not configured.",
    why="It matches nothing now. Later it matches any server that gets that name.",
    hint="Correct the name, add the server to .mcp.json, or remove the entry.",
    bad={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: document({"permissions": {"ask": ["mcp__tracker__close"], "allow": ["mcp__trackr__list"]}}),
    },
    good={
        MCP: server_file({"command": "tracker-mcp"}),
        SETTINGS: document(
            {"permissions": {"ask": ["mcp__tracker__close"], "allow": ["mcp__tracker__list"]}}
        ),
    },
    run=run,
    whole=True,
)
