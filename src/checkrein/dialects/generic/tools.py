"""Tool names as other agents spell them. A translation never widens: it leaves out what has no form there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec import Struct

from checkrein.facts.agents import Target, ToolShape
from checkrein.model.rule import split_rule

WRITERS = frozenset({"Bash", "PowerShell", "Edit", "Write", "MultiEdit", "NotebookEdit"})
"""Tools that change files. An agent without them can work in a read-only place."""

_CONTENT = ("Read", "Grep")
_NAMES = (*_CONTENT, "Glob", "LS")
_EDITS = ("Edit", "Write", "MultiEdit")
_AS_STRONG = {
    "Read": _CONTENT,
    "NotebookRead": _CONTENT,
    "Grep": _CONTENT,
    "Glob": _NAMES,
    "LS": _NAMES,
    "Edit": _EDITS,
    "Write": _EDITS,
    "MultiEdit": _EDITS,
    "NotebookEdit": (*_EDITS, "NotebookEdit"),
    "WebSearch": ("WebSearch", "WebFetch"),
    "Agent": ("Agent", "Task"),
    "Task": ("Agent", "Task"),
}
"""The tools that can do at least what a tool does."""


class Tools(Struct, frozen=True):
    """Tools by the agent's names, in order and without repeats, and those without a name there."""

    names: tuple[str, ...]
    missing: tuple[str, ...]


def convert_tools(tools: Iterable[str], target: Target) -> Tools:
    found: dict[str, None] = {}
    missing = []
    for text in tools:
        name = convert_tool(text, target)
        if name is None:
            missing.append(text)
        else:
            found[name] = None
    return Tools(tuple(found), tuple(missing))


def convert_tool(text: str, target: Target) -> str | None:
    """One tool pattern; None if it has no form there. The bare tool would allow more than `Bash(git:*)`."""
    if target.tools.get("*"):
        return text
    tool, specifier, problem = split_rule(text)
    if problem or specifier is not None:
        return None
    if tool.startswith("mcp__"):
        server, _, name = tool.removeprefix("mcp__").partition("__")
        if name in ("", "*"):
            return None if target.mcp_server is None else target.mcp_server.format(server=server)
        return None if target.mcp_tool is None else target.mcp_tool.format(server=server, tool=name)
    return target.tools.get(tool)


def limit_tools(tools: Iterable[str], target: Target) -> Tools:
    """The names for an agent that may use only `tools`. A name that stands for more there is left out."""
    listed = tuple(tools)
    found = convert_tools(listed, target)
    wider = {name for name in found.names if not _is_covered(name, listed, target)}
    missing = (*found.missing, *(tool for tool in listed if convert_tool(tool, target) in wider))
    return Tools(tuple(name for name in found.names if name not in wider), missing)


def _is_covered(name: str, tools: tuple[str, ...], target: Target) -> bool:
    meant = [ours for ours, theirs in target.tools.items() if theirs == name and ours != "*"]
    return all(any(tool in _AS_STRONG.get(ours, (ours,)) for tool in tools) for ours in meant)


def read_tool(name: str, target: Target) -> str:
    """The inverse of `convert_tool`: our name for a tool of `target`, or its own name if we have none."""
    if target.tools.get("*"):
        return name
    for ours, theirs in target.tools.items():
        if theirs == name:
            return ours
    for pattern, form in ((target.mcp_server, "mcp__{server}"), (target.mcp_tool, "mcp__{server}__{tool}")):
        if pattern is not None and (found := _pattern(pattern).fullmatch(name)):
            return form.format(**found.groupdict())
    return name


@cache
def _pattern(template: str) -> re.Pattern[str]:
    text = re.escape(template).replace(r"\{server\}", "(?P<server>[A-Za-z0-9-]+?)")
    return re.compile(text.replace(r"\{tool\}", "(?P<tool>[A-Za-z0-9_-]+)"))


def say_tools(
    tools: tuple[str, ...], target: Target, shape: ToolShape
) -> tuple[dict[str, Any], str | None, bool]:
    """(frontmatter, remark, exact) for an agent that may use only `tools`; no frontmatter, no limit."""
    if shape in ("sandbox", "readonly"):
        if WRITERS.isdisjoint(split_rule(tool)[0] for tool in tools):
            if shape == "sandbox":
                return {"sandbox_mode": "read-only"}, "its tools became a read-only sandbox", False
            return {"readonly": True}, "its tools became `readonly`", False
        return {}, f"its tools can't be limited there ({', '.join(tools)})", False
    converted = limit_tools(tools, target)
    remark = None
    if converted.missing:
        remark = f"it lacks the tools that have no name there: {', '.join(converted.missing)}"
    exact = tuple(read_tool(name, target) for name in converted.names) == tools
    if shape == "comma":
        return {"tools": ", ".join(converted.names)}, remark, exact
    if shape == "permission":
        return {"permission": {"*": "deny", **dict.fromkeys(converted.names, "allow")}}, remark, exact
    return {"tools": list(converted.names)}, remark, exact


def without_tools(tools: tuple[str, ...] | None, denied: tuple[str, ...], target: Target) -> tuple[str, ...]:
    """The tools that are left without the denied ones; None means every tool that the agent has."""
    every = tuple(tool for tool in target.tools if tool != "*") if tools is None or "*" in tools else tools
    names = {split_rule(tool)[0] for tool in denied}
    gone = {target.tools.get(name, name) for name in names} | names
    return tuple(tool for tool in every if tool not in gone and target.tools.get(tool, tool) not in gone)
