"""People and servers for tests of signing in."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
from msgspec import Struct

from checkrein.base.origin import Origin, Scope
from checkrein.runtime.mcp.oauth.consent import Person
from checkrein.runtime.mcp.oauth.providers import Means, Provider
from checkrein.runtime.mcp.oauth.token_store import Drawer


class Remote(Struct, frozen=True, kw_only=True):
    """A server entry, as far as a sign-in knows it."""

    name: str = "hub"
    url: str | None
    transport: str = "http"
    headers: Mapping[str, str] = {}
    oauth: Mapping[str, Any] = {}
    origin: Origin = Origin("/home/user/.claude.json", "user")

    @property
    def named(self) -> str:
        return self.name


def of(scope: Scope) -> Origin:
    return Origin("/some/.mcp.json", scope)


def visit(url: str) -> bool:
    """A browser whose user says yes to everything."""

    def go() -> None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=10).read()

    threading.Thread(target=go, daemon=True).start()
    return True


def person(said: list[str] | None = None, **change: Any) -> Person:
    return Person(
        **{"browse": visit, "tell": (said if said is not None else []).append, "limit": 10, **change}
    )


def provider(
    entry: Remote, home: Path, someone: Person | None = None, env: Mapping[str, str] | None = None
) -> Provider:
    return Provider(entry, Drawer(home, entry.name, entry.url or ""), Means(env=env or {}, person=someone))


def status(auth: Provider, *, times: int = 1, transport: httpx2.AsyncBaseTransport | None = None) -> int:
    """The status of the last of several requests at once."""

    async def ask() -> int:
        async with httpx2.AsyncClient(auth=auth, transport=transport) as client:
            answers = [client.post(auth.context.server_url, json=_LIST) for _ in range(times)]
            return [one.status_code for one in await asyncio.gather(*answers)][-1]

    return asyncio.run(ask())


_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
