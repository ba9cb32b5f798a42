"""The tools of a session: the live set of a tree of conversations, and the part that one of them offers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from checkrein.llm.port import ToolSpec
from checkrein.policy.tools import Tools
from checkrein.runtime.tools.port import AnyTool


class ToolSet:
    """Every tool of the session. A server may add and remove tools while the session runs.

    Safe to use from several threads. `version` changes with the set.
    """

    def __init__(self, tools: Iterable[AnyTool] = ()) -> None:
        self._lock = threading.Lock()
        self._tools = {tool.name: tool for tool in tools}
        self._changes = 0

    @property
    def version(self) -> int:
        return self._changes

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(tuple(self._tools.values()))

    def add(self, *tools: AnyTool) -> None:
        """Add tools. One with an existing name replaces the old one."""
        with self._lock:
            self._tools = {**self._tools, **{tool.name: tool for tool in tools}}
            self._changes += 1

    def owns(self, name: str) -> bool:
        """Whether the tool is in this very set, not in one above it."""
        return name in self._tools

    def remove(self, names: Iterable[str]) -> None:
        gone = set(names)
        with self._lock:
            self._tools = {name: tool for name, tool in self._tools.items() if name not in gone}
            self._changes += 1


class Toolbox:
    """An immutable set of tools in a fixed order. Eager tools are in every request; the others, and the
    `late` ones, wait behind the search tool. With `upfront` all are in every request."""

    def __init__(
        self,
        tools: Iterable[AnyTool],
        *,
        upfront: bool = False,
        late: frozenset[str] = frozenset(),
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._aliases = {alias: tool.name for tool in self._tools.values() for alias in tool.aliases}
        self._upfront = upfront
        self._late = late

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def get(self, name: str) -> AnyTool | None:
        return self._tools.get(name) or self._tools.get(self._aliases.get(name, ""))

    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def without(self, names: Iterable[str]) -> Toolbox:
        gone = set(names)
        return self._of(t for n, t in self._tools.items() if n not in gone)

    def only(self, names: Iterable[str]) -> Toolbox:
        kept = {self._aliases.get(name, name) for name in names}
        return self._of(t for n, t in self._tools.items() if n in kept)

    def with_tools(self, *tools: AnyTool) -> Toolbox:
        return self._of([*self._tools.values(), *tools])

    def replaced(self, tools: Iterable[AnyTool]) -> Toolbox:
        """The same set in the same order. These replace the tools with the same names."""
        new = {tool.name: tool for tool in tools}
        return self._of(new.get(name, tool) for name, tool in self._tools.items())

    def all_upfront(self) -> Toolbox:
        return Toolbox(self._tools.values(), upfront=True)

    def with_late(self, names: Iterable[str]) -> Toolbox:
        return Toolbox(self._tools.values(), upfront=self._upfront, late=self._late | frozenset(names))

    def _of(self, tools: Iterable[AnyTool]) -> Toolbox:
        return Toolbox(tools, upfront=self._upfront, late=self._late)

    @cached_property
    def deferred(self) -> tuple[AnyTool, ...]:
        """The tools that are not in the request."""
        return tuple(tool for tool in self._tools.values() if not self._is_upfront(tool))

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The declarations that go into every request; the same objects each time."""
        return tuple(
            ToolSpec(d.name, d.description, d.schema)
            for d in (tool.declaration for tool in self._tools.values() if self._is_upfront(tool))
        )

    @cached_property
    def registry(self) -> Tools:
        """The tools as `decide` knows them: by their effects."""
        from checkrein.policy.tools import builtin_tools

        known = builtin_tools()
        own = [
            t.meaning
            for t in self._tools.values()
            if t.name not in known or t.meaning is not known.get(t.name)
        ]
        return known.with_tool(*own) if own else known

    def _is_upfront(self, tool: AnyTool) -> bool:
        return self._upfront or (tool.eager and tool.name not in self._late)


class Change(Struct, frozen=True):
    """How the tools changed since the last look. `waiting` are new ones behind the search tool."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()

    def then(self, other: Change) -> Change:
        return Change(
            (*self.added, *other.added), (*self.removed, *other.removed), (*self.waiting, *other.waiting)
        )


class ToolView:
    """The part of the live set that one conversation sees. `make` chooses it. `now` is the state of the last
    `refresh`, so that requests stay the same until then."""

    def __init__(self, live: ToolSet, make: Callable[[Iterable[AnyTool]], Toolbox]) -> None:
        self._live = live
        self._make = make
        self._seen = live.version
        self._late: frozenset[str] = frozenset()
        self._untold: Change | None = None
        self.now = make(live)

    def refresh(self, *, first: bool = False) -> Change | None:
        """Look again; None when nothing changed. With a search tool, tools that come later never change the
        list in the request. Before the `first` request nothing is late."""
        version = self._live.version
        untold, self._untold = self._untold, None
        if version == self._seen:
            return untold
        self._seen = version
        before = self.now
        box = self._make(self._live)
        added = tuple(name for name in box.names() if before.get(name) is None)
        searched = before.get("ToolSearch") is not None and box.get("ToolSearch") is not None
        self._late = self._late.union(added) if searched and not first else frozenset()
        self.now = box.with_late(self._late) if searched else box
        removed = tuple(name for name in before.names() if box.get(name) is None)
        waiting = {tool.name for tool in self.now.deferred}
        change = Change(added, removed, tuple(name for name in added if searched and name in waiting))
        return change if untold is None else untold.then(change)

    def look_ahead(self, *, first: bool = False) -> None:
        """Take up new tools between two requests, or before the `first` one. The next `refresh` tells of them
        too."""
        self._untold = self.refresh(first=first)
