"""OpenAI Codex's files -> source items."""

from __future__ import annotations

import tomllib
from typing import Any

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin, Span
from checkrein.dialects import servers
from checkrein.dialects.codes import Log
from checkrein.dialects.generic.reading import Tree, below, full_path, into_section, memory_files, read_skills
from checkrein.dialects.generic.reading_json import document, our_entry, read_hooks
from checkrein.facts.agents import Target, find_target
from checkrein.model.items import Agent, Hook, Server
from checkrein.model.project import Sources

KEY = "codex"
READ_ONLY_TOOLS = ("Read", "Grep", "Glob")
_TAKEN = ("name", "description", "developer_instructions", "model_reasoning_effort", "mcp_servers")


def read(tree: Tree, root: str) -> Sources:
    """Skills, AGENTS.md, agents, hooks and the servers of config.toml."""
    target = find_target(KEY)
    assert target is not None
    log: Log = []
    return Sources(
        instructions=tuple(memory_files(tree, "AGENTS.md", root)),
        skills=tuple(read_skills(tree, ".agents/skills", root, KEY, log)),
        agents=tuple(_agents(tree, root, target, log)),
        hooks=tuple(_hooks(tree, root, target, log)),
        servers=tuple(_servers(tree, root, target, log)),
        diagnostics=tuple(log),
    )


def _toml(tree: Tree, path: str, root: str, log: Log) -> dict[str, Any]:
    try:
        return tomllib.loads(tree[path])
    except tomllib.TOMLDecodeError as error:
        line = getattr(error, "lineno", 1)
        place = Origin(full_path(root, path), "project", Span(line))
        log.append(Diagnostic("IMP010", "error", f"{path} is not TOML: {error}", place))
        return {}


def _agents(tree: Tree, root: str, target: Target, log: Log) -> list[Agent]:
    found = []
    for path, match in below(tree, ".codex/agents", r"([^/]+)\.toml"):
        values = _toml(tree, path, root, log)
        if not values:
            continue
        origin = Origin(full_path(root, path), "project", Span(1))
        extra = {key: value for key, value in values.items() if key not in _TAKEN}
        tools = READ_ONLY_TOOLS if extra.get("sandbox_mode") == "read-only" else None
        if tools is not None:
            del extra["sandbox_mode"]
        entries = values.get("mcp_servers") or {}
        agent = Agent(
            name=str(values.get("name", match[1])),
            origin=origin,
            description=_text(values.get("description")),
            tools=tools,
            effort=_text(values.get("model_reasoning_effort")),
            servers=tuple(_entries(entries, origin, target, log)),
            body=str(values.get("developer_instructions", "")),
        )
        found.append(into_section(agent, KEY, extra))
    return found


def _entries(entries: Any, origin: Origin, target: Target, log: Log) -> list[Server]:
    if not isinstance(entries, dict):
        return []
    read = (
        servers.read_entry(str(name), our_entry(entry, target), origin, f"mcp_servers.{name}", {}, log)
        for name, entry in entries.items()
        if isinstance(entry, dict)
    )
    return [server for server in read if server is not None]


def _servers(tree: Tree, root: str, target: Target, log: Log) -> list[Server]:
    path = ".codex/config.toml"
    if path not in tree:
        return []
    values = _toml(tree, path, root, log)
    return _entries(values.get("mcp_servers"), Origin(full_path(root, path), "project", Span(1)), target, log)


def _hooks(tree: Tree, root: str, target: Target, log: Log) -> list[Hook]:
    file = document(tree, ".codex/hooks.json", root, log)
    return [] if file is None else read_hooks(file, target, log)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
