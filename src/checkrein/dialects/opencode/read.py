"""opencode's files -> source items."""

from __future__ import annotations

import re
from typing import Any

from msgspec import structs

from checkrein.base.jsonpos import join
from checkrein.base.origin import Origin
from checkrein.dialects.codes import Log
from checkrein.dialects.dialect import Tree
from checkrein.dialects.generic.fields import read_model
from checkrein.dialects.generic.json_readers import document, read_servers
from checkrein.dialects.generic.readers import (
    into_section,
    memory_files,
    parse_agent,
    parse_command,
    placed,
    read_skills,
)
from checkrein.dialects.generic.tools import read_tool
from checkrein.dialects.jsonfile import Document
from checkrein.facts.agents import Target, find_target
from checkrein.model.items import Agent, Command
from checkrein.model.project import Sources
from checkrein.model.rule import VERDICTS, Rule, parse_rule

KEY = "opencode"
_POSITION = re.compile(r"(?<!\\)\$(\d+)(?!\w)")


def read(tree: Tree, root: str) -> Sources:
    """AGENTS.md, commands, skills, agents, and the servers and permissions of opencode.json."""
    target = find_target(KEY)
    assert target is not None
    log = Log()
    config = document(tree, target.files.servers[0], root, log)
    return Sources(
        instructions=tuple(memory_files(tree, target.files.instruction, root)),
        skills=tuple(read_skills(tree, root, target, log)),
        commands=tuple(_commands(tree, root, target, log)),
        agents=tuple(_agents(tree, root, target, log)),
        rules=() if config is None else tuple(_rules(config, target)),
        servers=() if config is None else tuple(read_servers(config, "mcp", target, log)),
        diagnostics=tuple(log),
    )


def _commands(tree: Tree, root: str, target: Target, log: Log) -> list[Command]:
    found = []
    for path, name in placed(tree, target.files.command, deep=True):
        command = parse_command(tree[path], path, name.replace("/", ":"), root, log)
        body = _POSITION.sub(lambda m: f"${int(m[1]) - 1}" if int(m[1]) else m[0], command.body)
        unknown = dict(command.unknown)
        subtask = unknown.pop("subtask", None)
        context = "fork" if subtask is True else command.context
        command = structs.replace(command, body=body, unknown=unknown, context=context)
        command = _our_model(command, target)
        found.append(into_section(command, KEY, command.unknown))
    return found


def _our_model(item: Any, target: Target) -> Any:
    """`anthropic/claude-x` is our `claude-x`; models of others stay opencode's."""
    if item.model is None:
        return item
    ours = read_model(item.model, target)
    if ours is None:
        return into_section(structs.replace(item, model=None), KEY, {"model": item.model})
    return structs.replace(item, model=ours)


def _agents(tree: Tree, root: str, target: Target, log: Log) -> list[Agent]:
    found = []
    for path, name in placed(tree, target.files.agent):
        agent = parse_agent(tree[path], path, name, root, log)
        if agent is None:
            continue
        unknown = dict(agent.unknown)
        if unknown.get("mode") == "subagent":
            del unknown["mode"]
        steps = unknown.pop("steps", None)
        tools = _allowed(unknown.get("permission"), target)
        if tools is not None:
            del unknown["permission"]
        agent = structs.replace(
            agent,
            unknown=unknown,
            max_turns=steps if isinstance(steps, int) else None,
            tools=tools if tools is not None else agent.tools,
        )
        agent = _our_model(agent, target)
        found.append(into_section(agent, KEY, agent.unknown))
    return found


def _allowed(permission: Any, target: Target) -> tuple[str, ...] | None:
    """The tools of an agent that may use only some: everything denied, these allowed."""
    if not isinstance(permission, dict) or permission.get("*") != "deny":
        return None
    rest = {key: value for key, value in permission.items() if key != "*"}
    if any(value != "allow" for value in rest.values()):
        return None
    return tuple(read_tool(str(name), target) for name in rest)


def _rules(config: Document, target: Target) -> list[Rule]:
    permission = config.value.get("permission")
    found: list[Rule] = []
    for name, held in permission.items() if isinstance(permission, dict) else ():
        tool = read_tool(str(name), target)
        patterns = {"*": held} if isinstance(held, str) else held if isinstance(held, dict) else {}
        for pattern, behavior in patterns.items():
            asked_anyway = pattern == "*" and behavior == "ask" and len(patterns) > 1
            if behavior in VERDICTS and not asked_anyway:
                place = _rule_place(config, str(name), str(pattern))
                found.append(parse_rule(_rule_text(tool, str(pattern)), behavior, place))
    return found


def _rule_place(config: Document, name: str, pattern: str) -> Origin:
    at = join("$.permission", name)
    inner = join(at, pattern)
    return config.at(inner if inner in config.spans else at)


def _rule_text(tool: str, pattern: str) -> str:
    if pattern == "*":
        return tool
    if tool == "Bash" and pattern.endswith(" *"):
        return f"{tool}({pattern.removesuffix(' *')}:*)"
    return f"{tool}({pattern})"
