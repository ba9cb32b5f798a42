"""What a person hears about servers. A server that repeats itself, or never stops, is not heard for ever."""

from __future__ import annotations

import threading

from checkrein.base.harmless import one_line
from checkrein.runtime.session.events import Event, Notice

_MOST = 50


class ServerNotices:
    """Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._heard: dict[tuple[str, str], set[str]] = {}

    def say(self, event: Event) -> None:
        with self._lock:
            self._events.append(event)

    def warn(self, server: str, text: str) -> None:
        """Each text about a server once, and not too many of them."""
        last = f"There are more warnings about the MCP server {one_line(server)}. They are not shown."
        self._add(("warning", server), text, last)

    def logged(self, server: str, text: str) -> None:
        """The same for what a server logs. It can't drown our own warnings."""
        name = one_line(server)
        last = f"The MCP server {name} logs more errors. They are not shown."
        self._add(("log", server), f"The MCP server {name}: {one_line(text)}", last)

    def _add(self, key: tuple[str, str], text: str, last: str) -> None:
        with self._lock:
            heard = self._heard.setdefault(key, set())
            if text in heard or len(heard) > _MOST:
                return
            heard.add(text)
            self._events.append(Notice("warning", text if len(heard) <= _MOST else last))

    def taken(self) -> tuple[Event, ...]:
        """What nobody has taken yet."""
        with self._lock:
            events, self._events = tuple(self._events), []
        return events
