"""Values of flags that a run accepts and that can hardly be meant: names of tools, directories."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

_RULES = {"allowed_tools": "--allowedTools", "disallowed_tools": "--disallowedTools", "tools": "--tools"}
_CLOSE = 0.75
_SERVER = "mcp__"


def doubtful(values: dict[str, Any]) -> Iterator[str]:
    """A line for each value that names nothing."""
    for name, flag in _RULES.items():
        if values[name]:
            yield from _tools(flag, values[name])
    for path in values["plugin_dir"]:
        if not os.path.exists(path):
            yield f"--plugin-dir {path} does not exist."
    asker = values["prompt_tool"]
    if asker not in (None, "stdio") and not asker.startswith(_SERVER):
        yield (
            f"--permission-prompt-tool {asker} is not a tool of an MCP server (mcp__SERVER__TOOL): "
            "what needs approval is refused."
        )


def _tools(flag: str, given: tuple[str, ...]) -> Iterator[str]:
    """Other packages may bring tools, so an unknown name counts only when it is close to a known one."""
    from checkrein.base.nearest import nearest
    from checkrein.facts.tools import RULE_ALIASES, TOOLS
    from checkrein.model.rule import split_rule, split_rule_list

    known = {name for fact in TOOLS for name in (fact.name, *fact.aliases)} | set(RULE_ALIASES)
    for text in (rule for value in given for rule in split_rule_list(value)):
        tool, _, problem = split_rule(text)
        if problem is not None:
            yield f"{flag} {text} is not a rule: {problem}."
        elif tool not in known and not tool.startswith(_SERVER):
            meant = nearest(tool, known, _CLOSE)
            if meant is not None:
                yield f"{flag} names {tool!r}, which is not a tool. Did you mean {meant!r}?"
