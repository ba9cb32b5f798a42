"""`mcp login` and `mcp logout`: a person signs in to a remote server, and out of it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.harmless import one_line
from checkrein.base.home import checkrein_home
from checkrein.dialects.servers import expand
from checkrein.facts.mcp import CLIENT_SECRET
from checkrein.model.items import Server
from checkrein.model.view import View
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.oauth.oauth_settings import RemoteEntry
from checkrein.runtime.mcp.oauth.token_store import Drawer

if TYPE_CHECKING:
    from checkrein.runtime.mcp.oauth.consent import Person
    from checkrein.runtime.mcp.oauth.providers import Provider

Visit = Callable[[RemoteEntry, "Provider"], Awaitable[object]]
"""Connects to a server with its sign-in, lists its tools and leaves."""


class SignedIn(Struct, frozen=True, kw_only=True):
    """How a login ended. `expires_at` is in seconds since the epoch."""

    outcome: Literal["signed_in", "already", "not_needed"]
    scope: str | None = None
    expires_at: float | None = None


class SignedOut(Struct, frozen=True, kw_only=True):
    """`revoked` says whether the authorization server forgot the tokens too; None when it offers no way."""

    known: bool
    revoked: bool | None = None


def keep_secret(home: Path, name: str, url: str, secret: str) -> None:
    """Store the secret of a configured client, for `mcp add --client-secret`. A new secret may belong to
    another authorization server; the same one stays with the server that has it."""
    Drawer(home, name, url).change(
        lambda record: replace(
            record, secret=secret, issuer=record.issuer if record.secret == secret else None
        )
    )


def is_signed_in(home: Path, name: str, url: str) -> bool:
    return Drawer(home, name, url).read().tokens is not None


def log_in(
    entry: RemoteEntry, home: Path, person: Person, env: Mapping[str, str], visit: Visit | None = None
) -> SignedIn:
    """Raises ServerFailure when nobody signs in, and when the server can't be reached."""
    if not entry.url:
        raise ServerFailure(f"MCP server {one_line(entry.name)} is a program: nobody signs in to it.")
    if any(name.lower() == "authorization" for name in entry.headers):
        raise ServerFailure(
            f"MCP server {one_line(entry.name)} has an Authorization header, so no sign-in is used. Remove "
            f"the header to sign in."
        )
    if entry.oauth.get("clientId") and (secret := env.get(CLIENT_SECRET)):
        keep_secret(home, entry.name, entry.url, secret)
    return asyncio.run(_signed_in(entry, home, person, env, visit or _visit))


async def _signed_in(
    entry: RemoteEntry, home: Path, person: Person, env: Mapping[str, str], visit: Visit
) -> SignedIn:
    from checkrein.runtime.mcp.oauth.providers import Means, Provider

    drawer = Drawer(home, entry.name, entry.url or "")
    before = drawer.read().tokens
    provider = Provider(entry, drawer, Means(env=env, person=person))
    try:
        await visit(entry, provider)
    except BaseExceptionGroup as group:
        raise _failure(entry, group) from None
    record = drawer.read()
    needed = provider.signed_in or record.tokens is not None or await provider.sign_in()
    record = drawer.read()
    if not needed:
        return SignedIn(outcome="not_needed")
    return SignedIn(
        outcome="signed_in" if provider.signed_in or before is None else "already",
        scope=(record.tokens or {}).get("scope"),
        expires_at=record.expires_at,
    )


def _failure(entry: RemoteEntry, group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one of several that says most to a user."""
    ours = group.subgroup(ServerFailure)
    leaf: BaseException = ours or group
    while isinstance(leaf, BaseExceptionGroup):
        leaf = leaf.exceptions[0]
    if isinstance(leaf, ServerFailure) or not isinstance(leaf, Exception):
        return leaf
    return ServerFailure(f"MCP server {one_line(entry.name)}: {one_line(str(leaf)) or type(leaf).__name__}.")


async def _visit(entry: RemoteEntry, provider: Provider) -> None:
    from mcp import Client
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
    from mcp.shared.exceptions import MCPError

    url, headers = entry.url or "", dict(entry.headers)
    async with create_mcp_http_client(headers=headers, auth=provider) as http:
        transport: Any = (
            sse_client(url, headers=headers, auth=provider)
            if entry.transport == "sse"
            else streamable_http_client(url, http_client=http)
        )
        try:
            async with Client(transport) as client:
                await client.list_tools()
        except MCPError as error:
            raise ServerFailure(f"MCP server {one_line(entry.name)}: {one_line(str(error))}.") from None


def log_out(entry: RemoteEntry, home: Path) -> SignedOut:
    """Forget the tokens of a server, here and where its authorization server offers it there."""
    drawer = Drawer(home, entry.name, entry.url or "")
    record = drawer.remove()
    if record is None:
        return SignedOut(known=False)
    if not record.tokens or not (record.metadata or {}).get("revocation_endpoint"):
        return SignedOut(known=True)
    from checkrein.runtime.mcp.oauth.revocation import revoke

    return SignedOut(known=True, revoked=asyncio.run(revoke(entry, record)))


class SignIn:
    """What the commands use. The address of an entry is filled in as a session does it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._home = checkrein_home(env)

    def login(self, server: Server, *, tell: Callable[[str], object], timeout: float) -> SignedIn:
        """Sign in, in the user's browser. Raises ServerFailure."""
        from checkrein.runtime.mcp.oauth.browser import Browser
        from checkrein.runtime.mcp.oauth.consent import Person
        from checkrein.runtime.process.spawner import Spawner

        terminal = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
        with Spawner(lambda origin: True) as spawner:
            person = Person(
                browse=Browser(spawner, self._env, os.getcwd()), tell=tell, terminal=terminal, limit=timeout
            )
            return log_in(self._filled(server), self._home, person, self._env)

    def logout(self, server: Server) -> bool:
        """Forget the tokens; False when there were none."""
        return log_out(self._filled(server), self._home).known

    def keep_secret(self, server: Server, secret: str) -> None:
        filled = self._filled(server)
        keep_secret(self._home, filled.name, filled.url or "", secret)

    def _filled(self, server: Server) -> Server:
        headers = {name: expand(value, self._env) for name, value in server.headers.items()}
        return replace(server, url=expand(server.url or "", self._env), headers=headers)


def sign_in(view: View, env: Mapping[str, str]) -> SignIn:
    """`view` is the project that the entry is part of."""
    return SignIn(env)
