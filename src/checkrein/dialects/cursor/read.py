"""Cursor's files -> source items."""

from __future__ import annotations

from msgspec import structs

from checkrein.dialects.codes import Log
from checkrein.dialects.coerce import as_globs
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
from checkrein.facts.agents import Target, find_target
from checkrein.model.items import Agent, Instruction
from checkrein.model.project import Sources

KEY = "cursor-agent"
READ_ONLY_TOOLS = ("Read", "Grep", "Glob")
_RULE_KEYS = ("description", "globs", "alwaysApply")


def read(tree: Tree, root: str) -> Sources:
    """Rules, AGENTS.md, skills, commands, agents, hooks and servers."""
    target = find_target(KEY)
    assert target is not None
    log: Log = []
    hooks = document(tree, ".cursor/hooks.json", root, log)
    servers = document(tree, ".cursor/mcp.json", root, log)
    return Sources(
        instructions=tuple(_instructions(tree, root, log)),
        skills=tuple(read_skills(tree, ".cursor/skills", root, KEY, log)),
        commands=tuple(
            parse_command(tree[path], path, match[1].replace("/", ":"), root, log)
            for path, match in below(tree, ".cursor/commands", r"(.+)\.md")
        ),
        agents=tuple(_agents(tree, root, target, log)),
        hooks=() if hooks is None else tuple(read_hooks(hooks, target, log)),
        servers=() if servers is None else tuple(read_servers(servers, "mcpServers", target, log)),
        diagnostics=tuple(log),
    )


def _instructions(tree: Tree, root: str, log: Log) -> list[Instruction]:
    found = memory_files(tree, "AGENTS.md", root)
    if ".cursorrules" in tree:
        found.append(instruction(tree[".cursorrules"], ".cursorrules", root))
    for path, _ in below(tree, ".cursor/rules", r".+\.mdc"):
        front = parse_front(tree[path], path, root, _RULE_KEYS, log)
        globs = as_globs(front.values.get("globs") or "")
        paths = globs if isinstance(globs, tuple) else ()
        if front.values.get("alwaysApply") is True:
            paths = ()
        found.append(instruction(front.body, path, root, "rule", paths, front.spans, front.body_line - 1))
    return found


def _agents(tree: Tree, root: str, target: Target, log: Log) -> list[Agent]:
    found = []
    for path, match in below(tree, ".cursor/agents", r"([^/]+)\.md"):
        agent = parse_agent(tree[path], path, match[1], root, log)
        if agent is None:
            continue
        unknown = dict(agent.unknown)
        background = unknown.pop("is_background", None)
        tools = READ_ONLY_TOOLS if unknown.pop("readonly", None) is True else agent.tools
        agent = structs.replace(
            agent,
            unknown=unknown,
            tools=tools,
            background=background if isinstance(background, bool) else agent.background,
        )
        if agent.model is not None and agent.model != "inherit":
            agent = into_section(structs.replace(agent, model=None), KEY, {"model": agent.model})
        found.append(into_section(agent, KEY, agent.unknown))
    return found
