"""The MCP servers of a session: when they start, what their tools become, what the model hears of them.

A server's tools come into the session's tool set as the server lists them, and leave it when it is switched
off. Tools of a server that has ended stay: a call says that it has ended. An agent may have servers of its
own before those of its parent.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.harmless import one_line
from checkrein.base.origin import Origin
from checkrein.facts import mcp
from checkrein.llm.cancel import Cancel
from checkrein.model.items import Server
from checkrein.policy.remote import PREFIX, normal
from checkrein.runtime.call.toolset import ToolSet
from checkrein.runtime.mcp.connection import Catalog, Connection, Status
from checkrein.runtime.mcp.declared_effects import DeclaredEffects
from checkrein.runtime.mcp.entry import Place, resolve
from checkrein.runtime.mcp.needs import Needs
from checkrein.runtime.mcp.server_notices import ServerNotices
from checkrein.runtime.mcp.servers import Servers
from checkrein.runtime.mcp.tool_names import ToolNames
from checkrein.runtime.mcp.wait_tool import WaitForServers
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.session.own_servers import OwnServers

if TYPE_CHECKING:
    from checkrein.runtime.mcp.prompts import PromptCommands

_SOON = 0.12
_NAMED = 10
"""So many changed tools are named in a warning."""
Changes = Callable[[Server, Catalog], frozenset[str]]
"""The tools of a server whose definitions nobody has accepted: their calls ask."""


class Above(Struct, frozen=True):
    """What an agent's own servers come before: those of its parent. `reads` says whether the agent may read
    the resources of these."""

    servers: SessionServers | None
    reads: Callable[[], bool]


class SessionServers:
    """Any thread may use it. `above` is None for those of the session itself."""

    def __init__(
        self,
        own: OwnServers,
        place: Place,
        needs: Needs,
        tools: ToolSet,
        effects: DeclaredEffects,
        changes: Changes,
        above: Above | None = None,
    ) -> None:
        self._items = {server.name: server for server in own.items}
        self._place = place
        self._env = place.env
        self._tools = tools
        self._effects = effects
        self._changes = changes
        self._own = own
        self._above = above
        self._names = ToolNames(self.owners)
        self._relay = needs.relay
        self._lock = threading.Lock()
        self._held: dict[str, frozenset[str]] = {}
        self._told: dict[str, str] = {}
        self._notices = ServerNotices()
        self._timer: threading.Timer | None = None
        self._texts: deque[str] = deque()
        self._begun = False
        self._introduced = False
        entries = tuple(
            resolve(server, place, own.agent if server.name in own.of_agent else None)
            for server in self._items.values()
        )
        self._entries = {entry.name: entry for entry in entries}
        self.servers = Servers(entries, replace(needs, changed=self._changed, logged=self._logged))
        for finding in (*effects.problems, *(one for entry in entries for one in entry.findings)):
            self._notices.say(Notice("warning", f"{finding.origin}: {finding.message}"))
        if above is None:
            tools.add(WaitForServers(self.servers))

    @cached_property
    def prompts(self) -> PromptCommands:
        from checkrein.runtime.mcp.prompts import PromptCommands

        return PromptCommands(self.connections)

    @property
    def owners(self) -> dict[str, Origin]:
        """Who wrote each server, those above too."""
        above = self._further.owners if self._further is not None else {}
        return {**above, **{name: item.origin for name, item in self._items.items()}}

    @property
    def _further(self) -> SessionServers | None:
        return self._above.servers if self._above is not None else None

    def connections(self) -> tuple[Connection, ...]:
        """All that a prompt may name: the agent's own, then those above with other names."""
        further = self._further.connections() if self._further is not None else ()
        return (*self.servers.connections(), *(one for one in further if one.name not in self._items))

    def _readable(self) -> tuple[Connection, ...]:
        """Those whose resources the tools read."""
        reads_all = self._above is None or self._above.reads()
        return self.connections() if reads_all else self.servers.connections()

    def begin_awaited(self, cancel: Cancel) -> bool:
        """Start all of them now if the first request waits for some: those of `--mcp-config`, those that are
        always loaded, and those of an agent. Returns whether it waited."""
        flagged = [name for name, item in self._items.items() if item.origin.scope == "cli"]
        batch = [
            name for name, entry in self._entries.items() if entry.always_load or name in self._own.of_agent
        ]
        if self._env.get(mcp.NONBLOCKING_ENV) == "0":
            batch = list(self._entries)
        if not flagged and not batch:
            return False
        self._await(batch, _seconds(self._env, mcp.BATCH_ENV, mcp.BATCH_MS), cancel)
        self._await(flagged, _seconds(self._env, mcp.STARTUP_ENV, mcp.STARTUP_MS), cancel)
        return True

    def begin_soon(self) -> None:
        """Start the others in a moment, when the first request is on the wire."""
        if not self._begun:
            self._begun = True
            self._timer = threading.Timer(_SOON, self.servers.start)
            self._timer.daemon = True
            self._timer.start()

    def _await(self, names: Iterable[str], seconds: float, cancel: Cancel) -> None:
        """Wait for servers, and say which of them the session does not wait for any longer."""
        self._begin()
        for status in self.servers.wait(names, seconds, cancel):
            if status.state == "pending" and not cancel.cancelled:
                text = f"The MCP server {one_line(status.name)} was not ready within {seconds:g} s."
                hint = "The session goes on without it, and has its tools as soon as it connects."
                self._notices.warn(status.name, f"{text} {hint}")

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.servers.start()

    def statuses(self) -> tuple[Status, ...]:
        return tuple(one.status for one in self.connections())

    def item(self, name: str) -> Server | None:
        return self._items.get(name)

    def status(self, name: str) -> Status | None:
        connection = self.servers.get(name)
        return None if connection is None else connection.status

    def add(self, server: Server) -> None:
        """One more server, in the place of one with the same name. It connects at once."""
        self.remove(server.name)
        entry = resolve(server, self._place)
        with self._lock:
            self._items = {**self._items, server.name: server}
            self._entries = {**self._entries, server.name: entry}
        for finding in entry.findings:
            self._notices.say(Notice("warning", f"{finding.origin}: {finding.message}"))
        self.servers.add(entry)

    def remove(self, name: str) -> None:
        """End a server. Its tools leave with it."""
        self.servers.remove(name)
        with self._lock:
            self._items = {key: one for key, one in self._items.items() if key != name}
            self._entries = {key: one for key, one in self._entries.items() if key != name}
            self._tools.remove(self._held.pop(name, frozenset()))
            self._names.drop(name)

    def wait(self, name: str, cancel: Cancel) -> None:
        """Wait for a server that somebody needs now."""
        entry = self._entries.get(name)
        if entry is not None:
            self._begin()
            self.servers.wait((name,), entry.times.startup, cancel)
        elif self._further is not None:
            self._further.wait(name, cancel)

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
            self._await(named, _seconds(self._env, mcp.STARTUP_ENV, mcp.STARTUP_MS), cancel)
        if self._further is not None:
            self._further.settle(text, cancel)

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
        if self._above is not None:
            yield from self._absences(self.servers.statuses())
            return
        waiting = ", ".join(one_line(one.name) for one in self.statuses() if one.state == "pending")
        if waiting:
            yield f"MCP servers that connect now: {waiting}. {WaitForServers.name} waits for their tools."

    def missing(self) -> str:
        """What a search for tools says about servers that have none yet, or failed."""
        return " ".join(self._absences(self.statuses()))

    def _absences(self, statuses: Iterable[Status]) -> Iterator[str]:
        later = f"{WaitForServers.name} waits for it" if self._above is None else "its tools come later"
        for one in statuses:
            if one.state == "pending":
                yield f"{one_line(one.name)} is still connecting; {later}."
            elif one.state in ("failed", "needs-auth"):
                yield f"{one_line(one.name)} is not connected: {one.error}"

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
        relay = self._relay()
        if relay is not None:
            relay.changed(connection)

    def _take(self, connection: Connection) -> None:
        item = self._items.get(connection.name)
        if item is None:
            return
        from checkrein.runtime.mcp.resource_tools import resource_tools
        from checkrein.runtime.mcp.server_tool import instructions_of, tools_of

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
        self._tools.add(*found.tools, *resource_tools(self._readable))
        for problem in found.problems:
            self._notices.warn(item.name, f"{problem.origin}: {problem.message}")
        if asks:
            names = ", ".join(one_line(name) for name in sorted(asks)[:_NAMED])
            names += f" and {len(asks) - _NAMED:,} more" if len(asks) > _NAMED else ""
            text = f"These tools of the MCP server {one_line(item.name)} are new or changed: {names}."
            words = f"{one_line(item.name)}{self._whose(item.name)}"
            hint = f"Each call asks, until you run `checkrein mcp approve {words}`."
            self._notices.warn(item.name, f"{text} {hint}")
        said = instructions_of(connection)
        if said and self._told.get(item.name) != said:
            self._told[item.name] = said
            self._texts.append(f"Instructions of the MCP server {one_line(item.name)}:\n{said}")

    def _whose(self, name: str) -> str:
        """The words of a command that lead to a server which only an agent has."""
        return f" --agent {one_line(self._own.agent or '')}" if name in self._own.of_agent else ""

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
