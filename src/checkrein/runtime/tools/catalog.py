"""All built-in tools. The first use of a tool reads its description and imports its implementation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from checkrein.policy.tools import Meaning
from checkrein.policy.tools import builtin_tools as known_tools
from checkrein.runtime.tools.declarations import TOOLS, Entry
from checkrein.runtime.tools.port import ToolContext, ToolDeclaration, ToolOutput

_HERE = Path(__file__).parent


class BuiltinTool:
    """A tool by its declaration; `run` imports the code that does the work."""

    def __init__(self, entry: Entry) -> None:
        self.name = entry.name
        self.aliases = entry.aliases
        self.eager = entry.eager
        self.read_only = entry.read_only
        self._entry = entry
        self._declaration: ToolDeclaration | None = None
        self._work: Callable[[dict[str, Any], ToolContext], ToolOutput] | None = None

    @property
    def declaration(self) -> ToolDeclaration:
        if self._declaration is None:
            entry = self._entry
            self._declaration = ToolDeclaration(
                name=entry.name,
                schema=entry.schema,
                description=describe(entry.name),
                read_only=entry.read_only,
                eager=entry.eager,
            )
        return self._declaration

    @property
    def meaning(self) -> Meaning:
        return known_tools().get(self.name)

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        if self._work is None:
            module, _, name = self._entry.place.partition(":")
            self._work = getattr(import_module(f"checkrein.runtime.tools.{module}"), name)
            assert self._work is not None
        return self._work(input, context)


def builtin_tools() -> tuple[BuiltinTool, ...]:
    """Every built-in tool, eager ones first, in the order in which requests list them."""
    return _catalog()[0]


def find(name: str) -> BuiltinTool | None:
    """The tool with this name or former name."""
    return _catalog()[1].get(name)


def describe(name: str) -> str:
    return (_HERE / f"{name}.md").read_text("utf-8").rstrip("\n")


@cache
def _catalog() -> tuple[tuple[BuiltinTool, ...], dict[str, BuiltinTool]]:
    tools = tuple(BuiltinTool(entry) for entry in TOOLS)
    names = {alias: tool for tool in tools for alias in tool.aliases}
    return tools, names | {tool.name: tool for tool in tools}
