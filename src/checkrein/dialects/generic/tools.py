"""Tool names as other agents spell them. A translation never widens: it leaves out what has no form there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec import Struct

from checkrein.facts.agents import Target, ToolShape
from checkrein.model.rule import split_rule

READ_ONLY = frozenset({"Read", "Grep", "Glob", "LS", "NotebookRead", "TodoWrite", "TodoRead"})


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
    """(frontmatter, remark, exact) for an agent that may use only `tools`."""
    if shape == "sandbox":
        if set(tools) <= READ_ONLY:
            return {"sandbox_mode": "read-only"}, "its tools became a read-only sandbox", False
        return {}, f"its tools can't be limited there ({', '.join(tools)})", False
    if shape == "readonly":
        if set(tools) <= READ_ONLY:
            return {"readonly": True}, "its tools became `readonly`", False
        return {}, f"its tools can't be limited there ({', '.join(tools)})", False
    converted = convert_tools(tools, target)
    remark = None
    if converted.missing:
        remark = f"it lacks the tools that have no name there: {', '.join(converted.missing)}"
    exact = tuple(read_tool(name, target) for name in converted.names) == tools
    if shape == "comma":
        return {"tools": ", ".join(converted.names)}, remark, exact
    if shape == "permission":
        return {"permission": {"*": "deny", **dict.fromkeys(converted.names, "allow")}}, remark, exact
    return {"tools": list(converted.names)}, remark, exact
