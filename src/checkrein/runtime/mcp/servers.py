"""The MCP servers of a session: started together, used by name, ended together.

This module imports nothing of asyncio or `mcp`: the loop's thread does, when the first server starts.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.facts import mcp
from checkrein.facts.claude import CALLER_TRANSPORT
from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import Connection, State, Status
from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.mcp.event_loop import Loop
from checkrein.runtime.mcp.link import Link
from checkrein.runtime.mcp.needs import Needs

if TYPE_CHECKING:
    import asyncio

    from checkrein.runtime.mcp.in_process import InProcess

_GRACE = 2.0
_IMPORTS = ("pydantic", "jsonschema", "httpx2", "mcp_types", "checkrein.runtime.mcp.life")


class Servers:
    """Any thread but the loop's may use it. `off` are servers that do not start, each with the reason.

    After `close` no server runs and no process is left."""

    def __init__(self, entries: Iterable[Entry], needs: Needs, off: Mapping[str, str] | None = None) -> None:
        self._loop = Loop(_IMPORTS)
        self._changed = threading.Condition()
        self._needs = replace(needs, changed=self._heard)
        self._tell = needs.changed
        self._gates: dict[bool, asyncio.Semaphore] = {}
        self._links: dict[str, Link | InProcess] = {}
        self._told: dict[str, State] = {}
        self._closed = False
        for entry in entries:
            self._links[entry.name] = link = self._link(entry)
            if off and entry.name in off:
                link.end(0.0, disabled=off[entry.name])

    def start(self, wait_for: Iterable[str] = (), limit: float = 0.0, cancel: Cancel | None = None) -> None:
        """Connect every server that is not switched off. Waits for those named, at most `limit` seconds."""
        for link in self._all():
            if link.status.state != "disabled":
                link.begin()
        self.wait(wait_for, limit, cancel)

    def get(self, name: str) -> Connection | None:
        return self._links.get(name)

    def names(self) -> tuple[str, ...]:
        return tuple(link.name for link in self._all())

    def connections(self) -> tuple[Connection, ...]:
        return self._all()

    def statuses(self) -> tuple[Status, ...]:
        return tuple(link.status for link in self._all())

    def findings(self) -> tuple[Diagnostic, ...]:
        """Warnings about all servers."""
        return tuple(finding for link in self._all() for finding in link.findings)

    def greet(self) -> None:
        """Begin the handshake with each server in the caller's process, and wait for the answers."""
        threads = [
            threading.Thread(target=link.greet, name="checkrein-mcp-greet", daemon=True)
            for link in self._hosted()
            if link.status.state == "pending"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def wait(self, names: Iterable[str], timeout: float, cancel: Cancel | None = None) -> tuple[Status, ...]:
        """Wait until none of these servers is pending and the session has heard of it, or the time is over.
        Returns how they are then."""
        links = [self._links[name] for name in names if name in self._links]

        def settled() -> bool:
            stopped = self._closed or (cancel is not None and cancel.cancelled)
            return stopped or all(self._told.get(link.name, "pending") != "pending" for link in links)

        with contextlib.ExitStack() as stack:
            if cancel is not None:
                stack.enter_context(cancel.on_cancel(self._wake))
            with self._changed:
                self._changed.wait_for(settled, timeout)
        return tuple(link.status for link in links)

    def reconnect(
        self, name: str, timeout: float | None = None, cancel: Cancel | None = None
    ) -> Status | None:
        """End the server and connect it again. Returns how it is then; None when nobody knows the name."""
        link = self._links.get(name)
        if link is None:
            return None
        link.end(_GRACE)
        link.begin()
        self.wait((name,), link.entry.times.startup + _GRACE if timeout is None else timeout, cancel)
        return link.status

    def toggle(self, name: str, enabled: bool, reason: str = "") -> Status | None:
        """Switch a server on, which connects it, or off. Returns at once when it is switched on."""
        link = self._links.get(name)
        if link is None:
            return None
        if not enabled:
            link.end(_GRACE, disabled=reason)
        elif link.status.state == "disabled":
            link.begin()
        return link.status

    def add(self, entry: Entry, start: bool = True) -> Connection:
        """One more server, such as an agent's own. It takes the place of one with the same name."""
        self.remove(entry.name)
        link = self._link(entry)
        with self._changed:
            self._links = {**self._links, entry.name: link}
        if start:
            link.begin()
        return link

    def remove(self, name: str) -> None:
        with self._changed:
            link = self._links.get(name)
            self._links = {key: one for key, one in self._links.items() if key != name}
        if link is not None:
            link.end(_GRACE)

    def roots_changed(self) -> None:
        for link in self._all():
            link.roots_changed()

    def close(self, grace: float = _GRACE) -> None:
        """End every server, all at once. Returns when they are gone, or soon after `grace` seconds.

        One call on the loop's thread tells them all: no server begins in the place of one that ends."""
        limit = time.monotonic() + grace
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._loop.leave()
        ending = [
            (link, job)
            for link in self._all()
            if (job := link.release()) is not None and isinstance(link, Link)
        ]

        def leave() -> None:
            for link, job in ending:
                link.leave(job)

        self._loop.call(leave)
        for _, job in ending:
            job.wait(max(0.0, limit - time.monotonic()))
        self._loop.close(max(0.2, limit - time.monotonic()))

    def _all(self) -> tuple[Link | InProcess, ...]:
        return tuple(self._links.values())

    def _hosted(self) -> tuple[InProcess, ...]:
        """Those in the caller's process."""
        from checkrein.runtime.mcp.in_process import InProcess

        return tuple(link for link in self._all() if isinstance(link, InProcess))

    def _link(self, entry: Entry) -> Link | InProcess:
        self._told.pop(entry.name, None)
        if entry.transport == CALLER_TRANSPORT:
            from checkrein.runtime.mcp.in_process import InProcess

            return InProcess(entry, self._needs)
        return Link(entry, self._loop, self._needs, lambda: self._gate(entry.is_remote))

    def _gate(self, remote: bool) -> asyncio.Semaphore:
        """On the loop's thread."""
        import asyncio

        most = mcp.REMOTE_AT_ONCE if remote else mcp.STDIO_AT_ONCE
        return self._gates.setdefault(remote, asyncio.Semaphore(most))

    def _heard(self, connection: Connection) -> None:
        state = connection.status.state
        try:
            self._tell(connection)
        finally:
            self._told[connection.name] = state
            self._wake()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
