"""One server as a row: where it comes from, how it is, what it offers, and what differs from before."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.base.origin import Origin, Scope
from checkrein.runtime.mcp.connection import State


class Changes(Struct, frozen=True, omit_defaults=True):
    """How the tools of a server differ from known ones."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def unknown(self) -> frozenset[str]:
        """The tools that nobody has looked at as they are now."""
        return frozenset((*self.added, *self.changed))


RowState = State | Literal["configured", "untrusted", "shadowed", "off", "broken"]
"""`configured`: nobody asked how it is. The others that a Status does not have: no session uses it."""


class ServerRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`reason` says why a server is not connected or not used. `asks` are tools whose definitions changed
    since they were accepted: each call asks. `lock` is how the tools differ from `checkrein.lock`."""

    name: str
    scope: Scope
    transport: str
    summary: str
    origin: Origin
    state: RowState
    reason: str | None = None
    program: str | None = None
    protocol: str | None = None
    tools: tuple[str, ...] = ()
    prompts: int = 0
    resources: int = 0
    connect_ms: int | None = None
    asks: tuple[str, ...] = ()
    lock: Changes | None = None
