"""Gemini CLI's files -> source items."""

from __future__ import annotations

from msgspec import structs

from checkrein.base.origin import Origin
from checkrein.dialects.codes import Log
from checkrein.dialects.dialect import Tree
from checkrein.dialects.generic import tomlfile
from checkrein.dialects.generic.json_readers import document, read_hooks, read_servers
from checkrein.dialects.generic.readers import (
    full_path,
    into_section,
    invert_body,
    memory_files,
    parse_agent,
    placed,
    read_skills,
)
from checkrein.dialects.generic.tools import read_tool
from checkrein.facts.agents import Target, find_target
from checkrein.model.items import Agent, Command
from checkrein.model.project import Sources

KEY = "gemini"
_SHELL = r"!\{([^{}\n]+)\}"
_FILE = r"@\{([^{}\n]+)\}"


def read(tree: Tree, root: str) -> Sources:
    """GEMINI.md, commands, skills, agents, and the hooks and servers of settings.json."""
    target = find_target(KEY)
    assert target is not None
    log = Log()
    settings = document(tree, target.files.servers[0], root, log)
    return Sources(
        instructions=tuple(memory_files(tree, target.files.instruction, root)),
        skills=tuple(read_skills(tree, root, target, log)),
        commands=tuple(_commands(tree, root, target, log)),
        agents=tuple(_agents(tree, root, target, log)),
        hooks=() if settings is None else tuple(read_hooks(settings, target, log)),
        servers=() if settings is None else tuple(read_servers(settings, "mcpServers", target, log)),
        diagnostics=tuple(log),
    )


def _commands(tree: Tree, root: str, target: Target, log: Log) -> list[Command]:
    found = []
    for path, name in placed(tree, target.files.command, deep=True):
        file = tomlfile.parse(tree[path], Origin(full_path(root, path), "project"), log)
        if file is None:
            continue
        values = file.value
        description = values.get("description")
        command = Command(
            name=name.replace("/", ":"),
            origin=file.origin,
            spans=file.below("$"),
            body_line=tomlfile.text_line(tree[path], file, "prompt"),
            description=description if isinstance(description, str) else None,
            body=invert_body(str(values.get("prompt", "")), "{{args}}", _SHELL, _FILE),
        )
        extra = {key: value for key, value in values.items() if key not in ("description", "prompt")}
        found.append(into_section(command, KEY, extra))
    return found


def _agents(tree: Tree, root: str, target: Target, log: Log) -> list[Agent]:
    found = []
    for path, name in placed(tree, target.files.agent):
        agent = parse_agent(tree[path], path, name, root, log)
        if agent is None:
            continue
        extra = dict(agent.unknown)
        turns = extra.pop("max_turns", None)
        if isinstance(turns, int):
            agent = structs.replace(agent, max_turns=turns, unknown=extra)
        if agent.tools is not None:
            agent = structs.replace(agent, tools=tuple(read_tool(tool, target) for tool in agent.tools))
        if agent.model is not None:
            agent = into_section(structs.replace(agent, model=None), KEY, {"model": agent.model})
        found.append(into_section(agent, KEY, agent.unknown))
    return found
