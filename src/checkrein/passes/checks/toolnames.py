"""Names of tools as files write them: in rules, `allowed-tools`, an agent's `tools`, a hook's matcher."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.facts.claude_guidance import OTHER_TOOLS
from checkrein.facts.tools import RULE_ALIASES, TOOLS
from checkrein.model.items import Agent, Command, Skill
from checkrein.model.project import Project
from checkrein.model.rule import split_rule
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.parts import bodies

MCP_PREFIX = "mcp__"


class Mention(Struct, frozen=True):
    """A tool pattern such as `Bash(git *)`, with its place and its list."""

    text: str
    tool: str
    specifier: str | None
    origin: Origin
    where: str
    owner: Skill | Command | Agent | None = None


def known_tools(subject: Subject) -> frozenset[str]:
    """Claude Code's tools, and those that installed packages add to a session."""
    return _documented().union(subject.tools.names())


@cache
def _documented() -> frozenset[str]:
    names = {fact.name for fact in TOOLS} | {alias for fact in TOOLS for alias in fact.aliases}
    return frozenset(names | set(RULE_ALIASES) | OTHER_TOOLS)


@cache
def free_tools() -> frozenset[str]:
    """Tools that need no approval in the default mode."""
    return frozenset(name for fact in TOOLS if fact.free for name in (fact.name, *fact.aliases))


def is_known(tool: str, subject: Subject) -> bool:
    """True for built-in names, tools of installed packages, MCP tools and patterns."""
    return tool.startswith(MCP_PREFIX) or "*" in tool or tool in _documented() or tool in subject.tools


def server_of(tool: str) -> str | None:
    """`tracker` for `mcp__tracker__list`, `mcp__tracker__*` and `mcp__tracker`."""
    if not tool.startswith(MCP_PREFIX):
        return None
    name = tool.removeprefix(MCP_PREFIX).partition("__")[0]
    return name if name and "*" not in name else None


def listed(owner: Skill | Command | Agent) -> Iterator[Mention]:
    """The tool patterns of an item's own fields."""
    if isinstance(owner, Agent):
        lists = (("tools", owner.tools or ()), ("disallowedTools", owner.disallowed_tools))
    else:
        lists = (("allowed-tools", owner.allowed_tools), ("disallowed-tools", owner.disallowed_tools))
    for field, texts in lists:
        for text in texts:
            tool, specifier, _ = split_rule(text)
            yield Mention(text, tool, specifier, owner.where(field), field, owner)


def mentions(project: Project) -> Iterator[Mention]:
    """Every tool pattern of the project: permission rules and the fields of skills, commands and agents."""
    for rule in project.sources.rules:
        yield Mention(rule.text, rule.tool, rule.specifier, rule.origin, f"permissions.{rule.verdict}")
    for owner in bodies(project):
        yield from listed(owner)
