"""Servers without a session: connect, look, and leave. `connect` is the one function that connects."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from checkrein.llm.cancel import Cancel
from checkrein.model.view import View
from checkrein.runtime.mcp.connection import Catalog, Connection, Status

GRACE = 2.0
"""Seconds that the servers have to end."""


class Probed(Struct, frozen=True, kw_only=True):
    """How a server was within the time limit, and what it offers if it is connected."""

    status: Status
    catalog: Catalog = Catalog()
    seconds: float = 0.0


class Linked(Protocol):
    """Servers that were started and may still connect. `close` ends them all; no process is left."""

    def wait(self, names: Collection[str], timeout: float, cancel: Cancel) -> object: ...
    def get(self, name: str) -> Connection | None: ...
    def close(self, grace: float) -> object: ...


def connect(view: View, env: Mapping[str, str], names: Collection[str]) -> Linked:
    """Start the servers of these names and return at once. Servers that the view does not show never start;
    a program starts through a Spawner with the trust of its origin."""
    from checkrein.runtime.mcp.standalone import Standalone

    return Standalone(view, env, names)


@contextlib.contextmanager
def linked(
    view: View, env: Mapping[str, str], *, names: Collection[str], timeout: float
) -> Iterator[dict[str, Connection]]:
    """The connections by name, each connected or with a reason in its status."""
    servers = connect(view, env, names)
    try:
        servers.wait(names, timeout, Cancel())
        found = {name: servers.get(name) for name in names}
        yield {name: connection for name, connection in found.items() if connection is not None}
    finally:
        servers.close(GRACE)


def within(status: Status, timeout: float) -> Status:
    """The status when the time is over: a server that is not ready says so."""
    if status.state != "pending":
        return status
    late = f"It was not ready within {timeout:g} s. A larger --timeout waits longer."
    return replace(status, error=f"{status.error} {late}" if status.error else late)


def probe(
    view: View, env: Mapping[str, str], *, names: Collection[str] | None = None, timeout: float
) -> tuple[Probed, ...]:
    """Look at the servers that a session of this view would use, all at once. A server that does not answer
    within `timeout` seconds stays `pending`."""
    chosen = [name for name in view.servers if names is None or name in names]
    if not chosen:
        return ()
    begun = time.monotonic()
    with linked(view, env, names=chosen, timeout=timeout) as connections:
        return tuple(
            Probed(
                status=within(connection.status, timeout),
                catalog=connection.catalog,
                seconds=round(time.monotonic() - begun, 3),
            )
            for connection in connections.values()
        )
