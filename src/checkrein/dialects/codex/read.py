"""OpenAI Codex's files -> source items."""

from __future__ import annotations

import posixpath
from typing import Any

from msgspec import structs

from checkrein.base.jsonpos import join
from checkrein.base.origin import Origin
from checkrein.dialects import servers
from checkrein.dialects.codes import Log
from checkrein.dialects.dialect import Tree
from checkrein.dialects.generic import tomlfile
from checkrein.dialects.generic.json_readers import our_entry, read_hook_files
from checkrein.dialects.generic.readers import full_path, into_section, memory_files, placed, read_skills
from checkrein.dialects.jsonfile import Document
from checkrein.facts.agents import Target, find_target
from checkrein.model.items import Agent, Server, Skill
from checkrein.model.project import Sources

KEY = "codex"
READ_ONLY_TOOLS = ("Read", "Grep", "Glob")
_BODY = "developer_instructions"
_TAKEN = ("name", "description", _BODY, "model_reasoning_effort", "mcp_servers")


def read(tree: Tree, root: str) -> Sources:
    """Skills with their policies, AGENTS.md, agents, hooks and the servers of config.toml."""
    target = find_target(KEY)
    assert target is not None
    log = Log()
    return Sources(
        instructions=tuple(memory_files(tree, target.files.instruction, root)),
        skills=tuple(_skills(tree, root, target, log)),
        agents=tuple(_agents(tree, root, target, log)),
        hooks=tuple(read_hook_files(tree, root, target, log)),
        servers=tuple(_servers(tree, root, target, log)),
        diagnostics=tuple(log),
    )


def _skills(tree: Tree, root: str, target: Target, log: Log) -> list[Skill]:
    """Skills; a policy may withhold one from the model."""
    withheld = {name for path, name in placed(tree, target.files.policy) if _withholds(tree[path])}
    return [
        structs.replace(skill, model_invocable=False) if skill.name in withheld else skill
        for skill in read_skills(tree, root, target, log)
    ]


def _withholds(text: str) -> bool:
    import yaml

    try:
        held = yaml.safe_load(text)
    except yaml.YAMLError:
        return False
    policy = held.get("policy") if isinstance(held, dict) else None
    return isinstance(policy, dict) and policy.get("allow_implicit_invocation") is False


def _toml(tree: Tree, path: str, root: str, log: Log) -> Document | None:
    return tomlfile.parse(tree[path], Origin(full_path(root, path), "project"), log)


def _agents(tree: Tree, root: str, target: Target, log: Log) -> list[Agent]:
    found = []
    roles = _roles(tree, root, log)
    for path, name in placed(tree, target.files.agent):
        file = _toml(tree, path, root, log)
        if file is None or not file.value:
            continue
        values = file.value
        extra = {key: value for key, value in values.items() if key not in _TAKEN}
        tools = READ_ONLY_TOOLS if extra.get("sandbox_mode") == "read-only" else None
        if tools is not None:
            del extra["sandbox_mode"]
        agent = Agent(
            name=str(values.get("name", name)),
            origin=file.origin,
            spans=file.below("$"),
            description=_text(values.get("description")) or roles.get(path),
            tools=tools,
            effort=_text(values.get("model_reasoning_effort")),
            servers=tuple(_entries(file, target, log)),
            body=str(values.get(_BODY, "")),
            body_line=tomlfile.text_line(tree[path], file, _BODY),
        )
        found.append(into_section(agent, KEY, extra))
    return found


def _roles(tree: Tree, root: str, log: Log) -> dict[str, str]:
    """The descriptions that config.toml gives to the files of its `[agents.NAME]` tables."""
    path = ".codex/config.toml"
    file = _toml(tree, path, root, log) if path in tree else None
    tables = file.value.get("agents") if file is not None else None
    found: dict[str, str] = {}
    for table in tables.values() if isinstance(tables, dict) else ():
        held = table if isinstance(table, dict) else {}
        file_name, text = _text(held.get("config_file")), _text(held.get("description"))
        if file_name and text:
            found[posixpath.normpath(posixpath.join(".codex", file_name))] = text
    return found


def _entries(file: Document, target: Target, log: Log) -> list[Server]:
    entries = file.value.get("mcp_servers")
    if not isinstance(entries, dict):
        return []
    found = []
    for name, entry in entries.items():
        path = join("$.mcp_servers", str(name))
        if isinstance(entry, dict):
            ours = our_entry(entry, target)
            server = servers.read_entry(str(name), ours, file.origin, path, file.spans, log)
            found += [] if server is None else [server]
    return found


def _servers(tree: Tree, root: str, target: Target, log: Log) -> list[Server]:
    files = [_toml(tree, path, root, log) for path, _ in placed(tree, target.files.servers)]
    return [server for file in files if file is not None for server in _entries(file, target, log)]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
