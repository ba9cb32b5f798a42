"""Connections to the server on loopback. Any program of this machine may open some and say nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_STRANGERS = 128
ADMITTED = "checkrein.admitted"
"""What the scope of a request holds that has the token."""


class Arrival(H11Protocol):
    """A stranger unless its last request was admitted. Of too many strangers the one that has been here
    longest has to go, so the others are served."""

    arrived = 0.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.arrived = asyncio.get_running_loop().time()
        strangers = [one for one in self.connections if isinstance(one, Arrival) and one.is_stranger]
        if len(strangers) > _STRANGERS:
            min(strangers, key=lambda one: one.arrived).transport.abort()

    @property
    def is_stranger(self) -> bool:
        admitted = self.scope is not None and ADMITTED in self.scope
        return not admitted and not self.transport.is_closing()
