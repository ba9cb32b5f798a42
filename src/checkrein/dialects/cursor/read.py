"""Cursor's files -> source items."""

from __future__ import annotations

from msgspec import structs

from checkrein.dialects.codes import Log
from checkrein.dialects.coerce import as_globs
from checkrein.dialects.dialect import Tree
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
    log = Log()
    return Sources(
        instructions=tuple(_instructions(tree, root, target, log)),
        skills=tuple(read_skills(tree, root, target, log)),
        commands=tuple(
            parse_command(tree[path], path, name.replace("/", ":"), root, log)
            for path, name in placed(tree, target.files.command, deep=True)
        ),
        agents=tuple(_agents(tree, root, target, log)),
        hooks=tuple(read_hook_files(tree, root, target, log)),
        servers=tuple(read_server_files(tree, "mcpServers", root, target, log)),
        diagnostics=tuple(log),
    )


def _instructions(tree: Tree, root: str, target: Target, log: Log) -> list[Instruction]:
    found = memory_files(tree, target.files.instruction, root)
    for path, _ in placed(tree, target.files.rule, deep=True):
        front = parse_front(tree[path], path, root, _RULE_KEYS, log)
        globs = as_globs(front.values.get("globs") or "")
        paths = globs if isinstance(globs, tuple) else ()
        if front.values.get("alwaysApply") is True:
            paths = ()
        found.append(read_rule(front, path, root, paths))
    return found


def _agents(tree: Tree, root: str, target: Target, log: Log) -> list[Agent]:
    found = []
    for path, name in placed(tree, target.files.agent):
        agent = parse_agent(tree[path], path, name, root, log)
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
