"""What connections need from the session. Each port is one function; None means that the session has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.facts import mcp
from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import Connection
from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.process.command import Command, Pipes

if TYPE_CHECKING:
    import httpx2
    from mcp.client import Transport

    from checkrein.runtime.mcp.headers import Run
    from checkrein.runtime.mcp.program_port import Exchange
    from checkrein.runtime.mcp.relay import Relay

Open = Callable[[Command], Pipes]
"""`Spawner.open` in a session. It refuses a command from an origin that is not trusted."""
Ask = Callable[[str, dict[str, Any], Cancel], dict[str, Any]]
"""(server, parameters as the wire has them, cancel): the result as the wire has it. Runs on a thread of its
own, and may block until the cancel fires."""
TransportFactory = Callable[[Entry], "Transport | None"]
"""An `mcp` Transport for a server of another kind, such as one in this process; None leaves it to the
transport that the entry names. Called on the loop's thread."""
AuthFactory = Callable[[Entry], "httpx2.Auth | None"]
"""How requests to a remote server are signed. Called on the loop's thread."""


class Delays(Struct, frozen=True, kw_only=True):
    """Seconds before each further try. When they are used up, nobody tries again."""

    connect: tuple[float, ...] = mcp.CONNECT_DELAYS
    reconnect: tuple[float, ...] = mcp.RECONNECT_DELAYS
    listing: tuple[float, ...] = mcp.LIST_DELAYS


class Needs(Struct, frozen=True, kw_only=True):
    """`bind` puts a command under the rules of the session. `roots` are the directories that servers hear of.

    `changed` and `logged` (server, level, text) are called on the loop's thread: they return soon, and make
    no request to a server. A server's request for a sample is refused unless `sample` or the relay answers
    it.
    `exchange` leads to the servers in the caller's process, `relay` to the client of a gateway."""

    open: Open | None = None
    runs: Run | None = None
    bind: Callable[[Command], Command] = lambda command: command
    auth: AuthFactory | None = None
    transport: TransportFactory | None = None
    roots: Callable[[], tuple[str, ...]] = tuple
    changed: Callable[[Connection], object] = lambda connection: None
    logged: Callable[[str, str, str], object] = lambda server, level, text: None
    elicit: Ask | None = None
    sample: Ask | None = None
    exchange: Callable[[], Exchange | None] = lambda: None
    relay: Callable[[], Relay | None] = lambda: None
    delays: Delays = Delays()
