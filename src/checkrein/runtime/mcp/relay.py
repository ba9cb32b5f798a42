"""Whoever is served through the session: the client of a gateway."""

from __future__ import annotations

from typing import Any, Protocol

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import Connection


class Relay(Protocol):
    """Servers that have one speak the protocol with a handshake, if they can: its messages go both ways.

    `heard` and `changed` are called on the loop's thread: they return soon, and make no request to a
    server."""

    @property
    def can_sample(self) -> bool: ...

    def sample(self, server: str, asked: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        """A server's request for a sample, and the answer, both as the wire has them. May block."""
        ...

    def heard(self, server: str, method: str, params: dict[str, Any]) -> None:
        """A notification of a server: a line of its log, or a resource that has changed."""
        ...

    def changed(self, connection: Connection) -> None:
        """The server's state or its lists are others now, and the session knows it."""
        ...
