"""Tools that wait behind a search: the opening has their names, a search result their definitions.

The list of tools in a request never grows, so the prefix holds (see docs/decisions/0006-deferred-tools.md).
The model calls a tool that it found by its own name. Some services let it call only tools that the request
lists; there it calls through the search tool. Either way the gate and the hooks see the tool itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from checkrein.base.origin import Origin
from checkrein.llm.port import ToolUse
from checkrein.policy.tools import builtin_tools
from checkrein.runtime.context.segments import Segment
from checkrein.runtime.tools.port import AnyTool, ToolContext, ToolDeclaration, ToolFailure, ToolOutput

if TYPE_CHECKING:
    from checkrein.runtime.call.toolset import Toolbox

NAME = "ToolSearch"
_MOST = 5
_AUTO_PERCENT = 10
_NAMES_CHARS = 8_000
_DESCRIPTION = (
    "Get the definitions of more tools, named in the first message, by keywords or `select:Name,Name`. "
    "Then call a tool by its own name, or here with its name and input."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "name": {"type": "string", "description": "a tool to call"},
        "input": {"type": "object", "description": "its input"},
    },
}
_WORD = re.compile(r"[a-z0-9]+")


class ToolSearch:
    """`tools` gives the session's tools at the time of a call, `missing` a text about those that servers have
    not brought."""

    name = NAME
    eager = True
    read_only = True
    aliases = ()
    meaning = builtin_tools().get(NAME)

    def __init__(self, tools: Callable[[], Toolbox], missing: Callable[[], str] = str) -> None:
        self.declaration = ToolDeclaration(
            name=NAME, schema=_SCHEMA, description=_DESCRIPTION, read_only=True, eager=True
        )
        self._tools = tools
        self._missing = missing

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        waiting = self._tools().deferred
        if not input.get("query"):
            raise ToolFailure("Give a `query`, or the `name` and `input` of a tool to call.")
        found = find(input["query"], waiting)
        names = [tool.name for tool in found]
        if not found:
            known = named([tool.name for tool in waiting])
            text = f"No tool matches {input['query']!r}. Available tools: {known}. {self._missing()}"
            raise ToolFailure(text.rstrip())
        text = "\n".join((*map(_definition, found), *filter(None, (self._missing(),))))
        return ToolOutput(content=text, structured={"matches": names, "total_deferred_tools": len(waiting)})


def find(query: str, tools: tuple[AnyTool, ...]) -> list[AnyTool]:
    """`select:A,B` gives these tools; words give the tools that match most, and a name counts double."""
    if query.strip().lower().startswith("select:"):
        wanted = [name.strip().lower() for name in query.strip()[len("select:") :].split(",")]
        return [tool for name in wanted for tool in tools if tool.name.lower() == name]
    words = set(_WORD.findall(query.lower()))

    def rank(tool: AnyTool) -> int:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", tool.name).lower()
        about = set(_WORD.findall(tool.declaration.description.lower()))
        return 2 * len(words & set(_WORD.findall(name))) + len(words & about)

    ranked = sorted(((rank(tool), -place, tool) for place, tool in enumerate(tools)), key=lambda one: one[:2])
    return [tool for points, _, tool in reversed(ranked) if points][:_MOST]


def _definition(tool: AnyTool) -> str:
    known = tool.declaration
    shown = {"name": known.name, "description": known.description, "input_schema": known.schema}
    return msgspec.json.encode(shown).decode()


def unwrapped(call: ToolUse) -> ToolUse:
    """The actual call: a call through the search tool becomes a call of the tool that it names."""
    name = call.input.get("name") if call.name == NAME else None
    if not isinstance(name, str) or not name or name == NAME:
        return call
    input = call.input.get("input")
    return ToolUse(call.id, name, input if isinstance(input, dict) else {}, call.broken)


def named(names: Sequence[str]) -> str:
    """The names of tools, as many as fit; of the others only how many. A server may bring thousands."""
    size = kept = 0
    for name in names:
        size += len(name) + 2
        if size > _NAMES_CHARS:
            break
        kept += 1
    more = f", and {len(names) - kept:,} more that a search finds" if kept < len(names) else ""
    return ", ".join(names[:kept]) + more


def listing(box: Toolbox) -> Segment | None:
    """What the opening says about the tools that wait."""
    names = named([tool.name for tool in box.deferred])
    if not names or box.get(NAME) is None:
        return None
    text = f"ToolSearch gives the definitions of more tools: {names}."
    return Segment("session", "tools", text, Origin("<tools>", "bundled"))


def defers(env: Mapping[str, str], box: Toolbox, window: int | None) -> bool:
    """Whether tools wait. `ENABLE_TOOL_SEARCH` false puts all of them in the request; `auto` or `auto:N` does
    so while they take less than 10 (N) percent of the window."""
    switch = env.get("ENABLE_TOOL_SEARCH", "").strip().lower()
    if switch in ("false", "0", "no", "off"):
        return False
    if switch.startswith("auto"):
        share = switch.partition(":")[2]
        percent = int(share) if share.isdigit() else _AUTO_PERCENT
        size = sum(len(_definition(tool)) for tool in box.deferred) // 4
        return size * 100 >= percent * (window or 200_000)
    return True
