"""GitHub Copilot's files -> source items."""

from __future__ import annotations

from msgspec import structs

from checkrein.dialects.codes import Log
from checkrein.dialects.coerce import as_globs
from checkrein.dialects.generic.fields import read_model
from checkrein.dialects.generic.reading import (
    Tree,
    below,
    instruction,
    into_section,
    memory_files,
    parse_agent,
    parse_command,
    parse_front,
    read_skills,
)
from checkrein.dialects.generic.reading_json import document, read_hooks, read_servers
from checkrein.dialects.generic.tools import read_tool
from checkrein.facts.agents import Target, find_target
from checkrein.model.items import Agent, Command, Hook, Instruction, Server
from checkrein.model.project import Sources

KEY = "copilot"


def read(tree: Tree, root: str) -> Sources:
    """Agents, prompts, instructions, skills, hooks, servers. An agent that a prompt starts is a command."""
    target = find_target(KEY)
    assert target is not None
    log: Log = []
    started = dict(_prompts(tree, root, log))
    commands, agents = _agents(tree, root, started, target, log)
    commands += [command for name, command in started.items() if command is not None and name == command.name]
    return Sources(
        instructions=tuple(_instructions(tree, root, log)),
        skills=tuple(read_skills(tree, ".github/skills", root, KEY, log)),
        commands=tuple(commands),
        agents=tuple(agents),
        hooks=tuple(_hooks(tree, root, target, log)),
        servers=tuple(_servers(tree, root, target, log)),
        diagnostics=tuple(log),
    )


def _prompts(tree: Tree, root: str, log: Log) -> list[tuple[str, Command | None]]:
    """(name, command) of every prompt; None for a prompt that only starts the agent of that name."""
    found: list[tuple[str, Command | None]] = []
    for path, match in below(tree, ".github/prompts", r"(.+)\.prompt\.md"):
        command = parse_command(tree[path], path, match[1], root, log)
        if (
            command.agent is not None
            and not command.body.strip()
            and f".github/agents/{command.agent}.agent.md" in tree
        ):
            found.append((command.agent, None))
            continue
        found.append((match[1], into_section(command, KEY, command.unknown)))
    return found


def _agents(
    tree: Tree, root: str, started: dict[str, Command | None], target: Target, log: Log
) -> tuple[list[Command], list[Agent]]:
    commands: list[Command] = []
    agents: list[Agent] = []
    for path, match in below(tree, ".github/agents", r"([^/]+)\.agent\.md"):
        name = match[1]
        if name in started and started[name] is None:
            command = parse_command(tree[path], path, name, root, log)
            commands.append(into_section(command, KEY, command.unknown))
            continue
        agent = parse_agent(tree[path], path, name, root, log)
        if agent is None:
            continue
        agent = structs.replace(agent, name=name)
        if agent.tools is not None:
            agent = structs.replace(agent, tools=tuple(read_tool(tool, target) for tool in agent.tools))
        if agent.model is not None:
            ours = read_model(agent.model, target)
            agent = (
                structs.replace(agent, model=ours)
                if ours is not None
                else into_section(structs.replace(agent, model=None), KEY, {"model": agent.model})
            )
        agents.append(into_section(agent, KEY, agent.unknown))
    return commands, agents


def _instructions(tree: Tree, root: str, log: Log) -> list[Instruction]:
    found = []
    main = ".github/copilot-instructions.md"
    if main in tree:
        found.append(instruction(tree[main], main, root))
    found += memory_files(tree, "AGENTS.md", root)
    for path, _ in below(tree, ".github/instructions", r".+\.instructions\.md"):
        front = parse_front(tree[path], path, root, ("applyTo", "description", "name"), log)
        globs = as_globs(front.values.get("applyTo", "**"))
        paths = globs if isinstance(globs, tuple) and globs != ("**",) else ()
        found.append(instruction(front.body, path, root, "rule", paths, front.spans, front.body_line - 1))
    return found


def _hooks(tree: Tree, root: str, target: Target, log: Log) -> list[Hook]:
    found: list[Hook] = []
    for path, _ in below(tree, ".github/hooks", r"[^/]+\.json"):
        file = document(tree, path, root, log)
        if file is not None:
            found += read_hooks(file, target, log)
    return found


def _servers(tree: Tree, root: str, target: Target, log: Log) -> list[Server]:
    file = document(tree, ".vscode/mcp.json", root, log)
    return [] if file is None else read_servers(file, "servers", target, log)
