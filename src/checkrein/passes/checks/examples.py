"""Files for the examples of checks: small, well formed, and without other findings."""

from __future__ import annotations

import json
from typing import Any

_REVIEW = "Review a change for mistakes. Use when the user asks for a review of code."
SKILL = ".claude/skills/review/SKILL.md"
COMMAND = ".claude/commands/ship.md"
AGENT = ".claude/agents/tester.md"
SETTINGS = ".claude/settings.json"
LOCAL = ".claude/settings.local.json"
MCP = ".mcp.json"
PLUGIN = ".claude-plugin/plugin.json"
MARKETPLACE = ".claude-plugin/marketplace.json"


def skill(
    *fields: str,
    name: str | None = "review",
    description: str | None = _REVIEW,
    body: str = "Read the diff.\n",
) -> str:
    head = [f"name: {name}"] if name is not None else []
    head += [f"description: {description}"] if description is not None else []
    return _markdown([*head, *fields], body)


def command(*fields: str, body: str = "Ship the release.\n") -> str:
    return _markdown(["description: Ship a release. Use when all tests pass.", *fields], body)


def agent(*fields: str, name: str = "tester", body: str = "You run the tests and report.\n") -> str:
    return _markdown([f"name: {name}", "description: Use when tests must be run.", *fields], body)


def document(value: Any) -> str:
    """A JSON file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def hook_file(event: str, handler: dict[str, Any], matcher: str | None = None) -> str:
    """A settings file with one hook."""
    return document({"hooks": {event: [group(handler, matcher)]}})


def group(handler: dict[str, Any], matcher: str | None = None) -> dict[str, Any]:
    return {**({} if matcher is None else {"matcher": matcher}), "hooks": [handler]}


def server_file(entry: dict[str, Any], name: str = "tracker") -> str:
    """An `.mcp.json` with one server."""
    return document({"mcpServers": {name: entry}})


def uses(*names: str) -> dict[str, str]:
    """A settings file that refers to servers, so that they count as used."""
    return {SETTINGS: document({"permissions": {"ask": [f"mcp__{name}" for name in names or ("tracker",)]}})}


def manifest(**fields: Any) -> str:
    """A plugin manifest."""
    return document({"name": "tidy", "version": "1.0.0", "description": "Tidy things up.", **fields})


def catalog(*entries: dict[str, Any], **fields: Any) -> str:
    head = {"name": "acme-tools", "owner": {"name": "Acme"}, "description": "Tools of Acme."}
    return document({**head, **fields, "plugins": list(entries)})


def _markdown(fields: list[str], body: str) -> str:
    return "---\n" + "".join(f"{line}\n" for line in fields) + "---\n" + body
