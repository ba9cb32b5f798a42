"""The tools of one session: which are offered, how the model sees them, and how a name is found."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from checkrein.llm.port import ToolSpec
from checkrein.runtime.tools.port import Tool


class Toolbox:
    """An immutable set of tools in a fixed order. Eager ones are in every request, the others wait behind the
    search tool; with `upfront` all are in every request."""

    def __init__(
        self, tools: Iterable[Tool], aliases: dict[str, str] | None = None, *, upfront: bool = False
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._aliases = aliases or {}
        self._upfront = upfront

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name) or self._tools.get(self._aliases.get(name, ""))

    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def without(self, names: Iterable[str]) -> Toolbox:
        gone = set(names)
        return self._of(t for n, t in self._tools.items() if n not in gone)

    def only(self, names: Iterable[str]) -> Toolbox:
        kept = {self._aliases.get(name, name) for name in names}
        return self._of(t for n, t in self._tools.items() if n in kept)

    def with_tools(self, *tools: Tool) -> Toolbox:
        return self._of([*self._tools.values(), *tools])

    def replaced(self, tools: Iterable[Tool]) -> Toolbox:
        """The same set in the same order, with these in the place of those of their names."""
        new = {tool.name: tool for tool in tools}
        return self._of(new.get(name, tool) for name, tool in self._tools.items())

    def all_upfront(self) -> Toolbox:
        return Toolbox(self._tools.values(), self._aliases, upfront=True)

    def _of(self, tools: Iterable[Tool]) -> Toolbox:
        return Toolbox(tools, self._aliases, upfront=self._upfront)

    @cached_property
    def deferred(self) -> tuple[Tool, ...]:
        """The tools that are not in the request."""
        return () if self._upfront else tuple(tool for tool in self._tools.values() if not tool.eager)

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The declarations that go into every request; the same objects each time."""
        return tuple(
            ToolSpec(d.name, d.description, d.schema)
            for d in (tool.declaration for tool in self._tools.values() if tool.eager or self._upfront)
        )
