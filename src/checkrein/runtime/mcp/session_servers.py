"""The MCP servers of a session: when they start, what their tools become, what the model hears of them.

A server's tools come into the session's tool set as the server lists them, and leave it when it is switched
off. Tools of a server that has ended stay: a call says that it has ended.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from checkrein.base.harmless import one_line
from checkrein.facts import mcp
from checkrein.llm.cancel import Cancel
from checkrein.model.items import Server
from checkrein.policy.remote import PREFIX, normal
from checkrein.runtime.call.toolset import ToolSet
from checkrein.runtime.mcp.connection import Catalog, Connection, Status
from checkrein.runtime.mcp.declared_effects import DeclaredEffects
from checkrein.runtime.mcp.entry import Place, resolve
from checkrein.runtime.mcp.needs import Needs
from checkrein.runtime.mcp.prompts import PromptCommands
from checkrein.runtime.mcp.resource_tools import resource_tools
from checkrein.runtime.mcp.server_notices import ServerNotices
from checkrein.runtime.mcp.server_tool import instructions_of, tools_of
from checkrein.runtime.mcp.servers import Servers
from checkrein.runtime.mcp.tool_names import ToolNames
from checkrein.runtime.mcp.wait_tool import WaitForServers
from checkrein.runtime.session.events import Event, Notice

_SOON = 0.03
Changes = Callable[[Server, Catalog], frozenset[str]]
"""The tools of a server whose definitions nobody has accepted: their calls ask."""


class SessionServers:
    """Any thread may use it."""

    def __init__(
        self,
        servers: Iterable[Server],
        place: Place,
        needs: Needs,
        tools: ToolSet,
        effects: DeclaredEffects,
        changes: Changes,
    ) -> None:
        self._items = {server.name: server for server in servers}
        self._env = place.env
        self._tools = tools
        self._effects = effects
        self._changes = changes
        self._names = ToolNames({name: item.origin for name, item in self._items.items()})
        self._lock = threading.Lock()
        self._held: dict[str, frozenset[str]] = {}
        self._told: dict[str, str] = {}
        self._notices = ServerNotices()
        self._timer: threading.Timer | None = None
        self._texts: deque[str] = deque()
        self._begun = False
        self._introduced = False
        entries = tuple(resolve(server, place) for server in self._items.values())
        self._entries = {entry.name: entry for entry in entries}
        self.servers = Servers(entries, replace(needs, changed=self._changed, logged=self._logged))
        self.prompts = PromptCommands(self.servers.connections)
        for finding in (*effects.problems, *(one for entry in entries for one in entry.findings)):
            self._notices.say(Notice("warning", f"{finding.origin}: {finding.message}"))
        tools.add(WaitForServers(self.servers))

    def begin_awaited(self, cancel: Cancel) -> bool:
        """Start all of them now if the first request waits for some: those of `--mcp-config`, and those that
        are always loaded. Returns whether it waited."""
        flagged = [name for name, item in self._items.items() if item.origin.scope == "cli"]
        batch = [name for name, entry in self._entries.items() if entry.always_load]
        if self._env.get(mcp.NONBLOCKING_ENV) == "0":
            batch = list(self._entries)
        if not flagged and not batch:
            return False
        self._begin()
        self.servers.wait(batch, _seconds(self._env, mcp.BATCH_ENV, mcp.BATCH_MS), cancel)
        self.servers.wait(flagged, _seconds(self._env, mcp.STARTUP_ENV, mcp.STARTUP_MS), cancel)
        return True

    def begin_soon(self) -> None:
        """Start the others in a moment, when the first request is on the wire."""
        if not self._begun:
            self._begun = True
            self._timer = threading.Timer(_SOON, self.servers.start)
            self._timer.daemon = True
            self._timer.start()

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.servers.start()

    def statuses(self) -> tuple[Status, ...]:
        return self.servers.statuses()

    def wait(self, name: str, cancel: Cancel) -> None:
        """Wait for a server that somebody needs now."""
        entry = self._entries.get(name)
        if entry is not None:
            self._begin()
            self.servers.wait((name,), entry.times.startup, cancel)

    def settle(self, text: str, cancel: Cancel) -> None:
        """Wait for the servers that a prompt names, as `/mcp__server__prompt` or `@server:uri`."""
        plain = normal(text.lstrip()[1:])
        named = [
            name
            for name in self._entries
            if plain.startswith(f"{PREFIX}{normal(name)}__")
            or any(f"@{one}:" in text for one in (name, normal(name)))
        ]
        if named:
            self._begin()
            self.servers.wait(named, _seconds(self._env, mcp.STARTUP_ENV, mcp.STARTUP_MS), cancel)

    def say(self, event: Event) -> None:
        """Something that a person hears at the next look."""
        self._notices.say(event)

    def heard(self) -> tuple[Event, ...]:
        """What happened since the last look, for the person."""
        return self._notices.taken()

    def said(self) -> tuple[str, ...]:
        """What is new since the last look, for the model; the first time, also which servers connect
        later."""
        if self._introduced:
            return tuple(_taken(self._texts))
        self._introduced = True
        return (*self._introduction(), *sorted(_taken(self._texts)))

    def _introduction(self) -> Iterator[str]:
        waiting = ", ".join(one_line(one.name) for one in self.statuses() if one.state == "pending")
        if waiting:
            yield f"MCP servers that connect now: {waiting}. {WaitForServers.name} waits for their tools."

    def missing(self) -> str:
        """What a search for tools says about servers that have none yet, or failed."""
        parts = []
        for one in self.statuses():
            if one.state == "pending":
                parts.append(f"{one_line(one.name)} is still connecting; {WaitForServers.name} waits for it.")
            elif one.state in ("failed", "needs-auth"):
                parts.append(f"{one_line(one.name)} is not connected: {one.error}")
        return " ".join(parts)

    def close(self, grace: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.servers.close(grace)

    def _changed(self, connection: Connection) -> None:
        """On the loop's thread."""
        with self._lock:
            status = connection.status
            if status.state == "connected":
                self._take(connection)
            elif status.state == "disabled":
                self._tools.remove(self._held.pop(connection.name, frozenset()))
                self._names.drop(connection.name)
            self._tell(status)

    def _take(self, connection: Connection) -> None:
        item = self._items.get(connection.name)
        if item is None:
            return
        asks = self._changes(item, connection.catalog)
        entry = self._entries[item.name]
        found = tools_of(
            connection,
            self._names,
            self._effects,
            item.origin,
            eager=entry.always_load,
            asks=asks,
            cwd=entry.cwd,
        )
        now = frozenset(tool.name for tool in found.tools)
        self._tools.remove(self._held.get(item.name, frozenset()) - now)
        self._held[item.name] = now
        self._tools.add(*found.tools, *resource_tools(self.servers.connections))
        for problem in found.problems:
            self._notices.warn(item.name, f"{problem.origin}: {problem.message}")
        if asks:
            names = ", ".join(sorted(one_line(name) for name in asks))
            text = f"These tools of the MCP server {one_line(item.name)} are new or changed: {names}."
            hint = f"Each call asks, until you run `checkrein mcp approve {one_line(item.name)}`."
            self._notices.warn(item.name, f"{text} {hint}")
        said = instructions_of(connection)
        if said and self._told.get(item.name) != said:
            self._told[item.name] = said
            self._texts.append(f"Instructions of the MCP server {one_line(item.name)}:\n{said}")

    def _tell(self, status: Status) -> None:
        if status.state in ("failed", "needs-auth") and status.error:
            text = f"The MCP server {one_line(status.name)} is not connected: {status.error}"
            self._notices.warn(status.name, text)

    def _logged(self, server: str, level: str, text: str) -> None:
        if level in mcp.LOUD_LEVELS:
            self._notices.logged(server, text)


def _taken(queue: deque[Any]) -> Iterable[Any]:
    while queue:
        yield queue.popleft()


def _seconds(env: Any, name: str, usual: int) -> float:
    text = str(env.get(name, "")).strip()
    return (int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else usual) / 1000
