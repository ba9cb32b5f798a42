"""Servers of a test, ended with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.mcp.needs import Delays, Needs
from checkrein.runtime.mcp.servers import Servers
from checkrein.runtime.process.spawner import Spawner

Connect = Callable[..., Servers]


@pytest.fixture
def connect(spawner: Spawner) -> Iterator[Connect]:
    """Starts servers from entries, and waits for them. Keywords are needs."""
    made: list[Servers] = []

    def start(*entries: Entry, wait: float = 30.0, **needs: object) -> Servers:
        given = {"open": spawner.open, "runs": spawner.run, "delays": Delays(connect=(0.05,) * 2), **needs}
        servers = Servers(entries, Needs(**given))  # type: ignore[arg-type]
        made.append(servers)
        servers.start([entry.name for entry in entries], wait)
        return servers

    yield start
    for servers in made:
        servers.close(5.0)
