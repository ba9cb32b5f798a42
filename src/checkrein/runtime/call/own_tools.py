"""The tools of a conversation that has servers of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from checkrein.runtime.call.toolset import ToolSet
from checkrein.runtime.tools.port import AnyTool


class OwnTools(ToolSet):
    """A live set over that of the parent, which it follows. Nobody above sees what comes in here.

    `servers` are the conversation's own: the tools of a server above with the same name are not in the set.
    `keeps` says which of its servers' tools the conversation has; others never come in."""

    def __init__(self, above: ToolSet, servers: Iterable[str], keeps: Callable[[str], bool]) -> None:
        super().__init__()
        self._above = above
        self._servers = frozenset(servers)
        self._keeps = keeps

    @property
    def version(self) -> int:
        return self._above.version + self._changes

    def __iter__(self) -> Iterator[AnyTool]:
        own = self._tools
        below = [tool for tool in self._above if tool.name not in own and not self._is_hidden(tool)]
        return iter((*below, *own.values()))

    def add(self, *tools: AnyTool) -> None:
        super().add(*(tool for tool in tools if self._keeps(tool.name)))

    def _is_hidden(self, tool: AnyTool) -> bool:
        remote = tool.meaning.remote
        return remote is not None and remote.server in self._servers
