"""Claude Code's files of one tree -> source items: the project's own, without scopes and without a disk."""

from __future__ import annotations

from checkrein.dialects import servers
from checkrein.dialects.claude import settings
from checkrein.dialects.codes import Log
from checkrein.dialects.coerce import as_globs
from checkrein.dialects.dialect import Tree
from checkrein.dialects.generic.json_readers import documents
from checkrein.dialects.generic.readers import (
    memory_files,
    parse_agent,
    parse_command,
    parse_front,
    parse_skill,
    placed,
    read_rule,
)
from checkrein.facts.agents import find_target
from checkrein.facts.claude_fields import RULE_FIELDS, names
from checkrein.model.items import Agent, Instruction
from checkrein.model.project import Place, Sources

_RULE_KEYS = names(RULE_FIELDS)


def read(tree: Tree, root: str) -> Sources:
    """Instructions, rules, skills, commands, agents, servers, and what a settings file holds."""
    target = find_target("claude")
    assert target is not None
    log = Log()
    files = target.files
    place = Place(cwd=root, root=root, root_reason="fallback", home=root, config_dir=root)
    kept = [settings.items(file, place, log) for file in documents(tree, files.permissions, root, log)]
    return Sources(
        instructions=(*memory_files(tree, files.instruction, root), *_rules(tree, files.rule, root, log)),
        skills=tuple(
            parse_skill(tree[path], path, name, root, log) for path, name in placed(tree, files.skill)
        ),
        commands=tuple(
            parse_command(tree[path], path, name.replace("/", ":"), root, log)
            for path, name in placed(tree, files.command, deep=True)
        ),
        agents=tuple(_agents(tree, files.agent, root, log)),
        hooks=tuple(hook for one in kept for hook in one.hooks),
        rules=tuple(rule for one in kept for rule in one.rules),
        settings=tuple(setting for one in kept for setting in one.settings),
        servers=(
            *(server for one in kept for server in one.servers),
            *(
                server
                for file in documents(tree, files.servers, root, log)
                for server in servers.read_document(file, log)
            ),
        ),
        diagnostics=tuple(log),
    )


def _rules(tree: Tree, places: tuple[str, ...], root: str, log: Log) -> list[Instruction]:
    found = []
    for path, _ in placed(tree, places, deep=True):
        front = parse_front(tree[path], path, root, _RULE_KEYS, log)
        globs = as_globs(front.values.get("paths") or "")
        found.append(read_rule(front, path, root, globs if isinstance(globs, tuple) else ()))
    return found


def _agents(tree: Tree, places: tuple[str, ...], root: str, log: Log) -> list[Agent]:
    found = (parse_agent(tree[path], path, name, root, log) for path, name in placed(tree, places))
    return [agent for agent in found if agent is not None]
