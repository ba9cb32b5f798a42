"""GitHub Copilot's files -> source items."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from checkrein.dialects.codes import Log
from checkrein.dialects.coerce import as_globs
from checkrein.dialects.dialect import Tree
from checkrein.dialects.generic.fields import read_model
from checkrein.dialects.generic.json_readers import read_hook_files, read_server_files
from checkrein.dialects.generic.readers import (
    into_section,
    memory_files,
    parse_agent,
    parse_command,
    parse_front,
    placed,
    read_rule,
    read_skills,
)
from checkrein.dialects.generic.tools import read_tool
from checkrein.facts.agents import Target, find_target
from checkrein.model.items import Agent, Command, Instruction, Server
from checkrein.model.project import Sources

KEY = "copilot"


def read(tree: Tree, root: str) -> Sources:
    """Agents, prompts, instructions, skills, hooks, servers. An agent that a prompt starts is a command."""
    target = find_target(KEY)
    assert target is not None
    log = Log()
    started = dict(_prompts(tree, root, target, log))
    commands, agents = _agents(tree, root, started, target, log)
    commands += [command for name, command in started.items() if command is not None and name == command.name]
    return Sources(
        instructions=tuple(_instructions(tree, root, target, log)),
        skills=tuple(read_skills(tree, root, target, log)),
        commands=tuple(commands),
        agents=tuple(agents),
        hooks=tuple(read_hook_files(tree, root, target, log)),
        servers=tuple(_servers(tree, root, target, log)),
        diagnostics=tuple(log),
    )


def _servers(tree: Tree, root: str, target: Target, log: Log) -> list[Server]:
    """Those of the command line and those of the editor, each name once."""
    found: dict[str, Server] = {}
    for key in ("mcpServers", "servers"):
        for server in read_server_files(tree, key, root, target, log):
            found.setdefault(server.name, server)
    return list(found.values())


def _prompts(tree: Tree, root: str, target: Target, log: Log) -> list[tuple[str, Command | None]]:
    """(name, command) of every prompt; None for a prompt that only starts the agent of that name."""
    found: list[tuple[str, Command | None]] = []
    agents = {name for _, name in placed(tree, target.files.agent)}
    for path, name in placed(tree, target.files.command, deep=True):
        command = parse_command(tree[path], path, name, root, log)
        if command.agent in agents and not command.body.strip():
            found.append((command.agent or "", None))
            continue
        found.append((name, into_section(command, KEY, command.unknown)))
    return found


def _agents(
    tree: Tree, root: str, started: dict[str, Command | None], target: Target, log: Log
) -> tuple[list[Command], list[Agent]]:
    commands: list[Command] = []
    agents: list[Agent] = []
    for path, name in placed(tree, target.files.agent):
        if name in started and started[name] is None:
            command = _our_model(parse_command(tree[path], path, name, root, log), target)
            commands.append(into_section(command, KEY, command.unknown))
            continue
        agent = parse_agent(tree[path], path, name, root, log)
        if agent is None:
            continue
        agent = structs.replace(agent, name=name)
        if agent.tools is not None:
            agent = structs.replace(agent, tools=tuple(read_tool(tool, target) for tool in agent.tools))
        agent = _our_model(agent, target)
        agents.append(into_section(agent, KEY, agent.unknown))
    return commands, agents


def _our_model(item: Any, target: Target) -> Any:
    """The item with our name of its model; a model that we have no name for stays Copilot's."""
    if item.model is None:
        return item
    ours = read_model(item.model, target)
    if ours is None:
        return into_section(structs.replace(item, model=None), KEY, {"model": item.model})
    return structs.replace(item, model=ours)


def _instructions(tree: Tree, root: str, target: Target, log: Log) -> list[Instruction]:
    found = memory_files(tree, target.files.instruction, root)
    for path, _ in placed(tree, target.files.rule, deep=True):
        front = parse_front(tree[path], path, root, ("applyTo", "description", "name"), log)
        globs = as_globs(front.values.get("applyTo", "**"))
        paths = globs if isinstance(globs, tuple) and globs != ("**",) else ()
        found.append(read_rule(front, path, root, paths))
    return found
