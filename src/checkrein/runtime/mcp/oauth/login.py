"""`mcp login` and `mcp logout`: a person signs in to a remote server, and out of it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.harmless import one_line
from checkrein.base.home import checkrein_home
from checkrein.facts.mcp import CLIENT_SECRET
from checkrein.model.items import Server
from checkrein.model.view import View
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.entry import Entry, resolve
from checkrein.runtime.mcp.headers import has_authorization
from checkrein.runtime.mcp.needs import Needs
from checkrein.runtime.mcp.oauth.authenticator import Authenticator
from checkrein.runtime.mcp.oauth.oauth_settings import RemoteEntry
from checkrein.runtime.mcp.oauth.token_store import Drawer
from checkrein.runtime.mcp.servers import Servers
from checkrein.runtime.mcp.standalone import Ground, place_of

if TYPE_CHECKING:
    from checkrein.runtime.mcp.oauth.consent import Person
    from checkrein.runtime.mcp.oauth.providers import Provider

_GRACE = 2.0


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


def log_in(entry: Entry, home: Path, person: Person, env: Mapping[str, str], needs: Needs) -> SignedIn:
    """Connect to the server as a session does, with somebody who can be asked. Raises ServerFailure when
    nobody signs in, and when the server can't be reached."""
    if not entry.url:
        raise ServerFailure(f"MCP server {one_line(entry.name)} is a program: nobody signs in to it.")
    if has_authorization(entry.headers):
        raise _suppressed(entry, "has")
    if entry.oauth.get("clientId") and (secret := env.get(CLIENT_SECRET)):
        keep_secret(home, entry.name, entry.url, secret)
    drawer = Drawer(home, entry.name, entry.url)
    before = drawer.read().tokens
    authenticator = Authenticator(home, env, person)
    fresh = _visited(entry, authenticator, needs, person.limit)
    if not fresh and drawer.read().tokens is None:
        provider = authenticator(entry)
        if provider is None or not asyncio.run(provider.sign_in()):
            return SignedIn(outcome="not_needed")
    record = drawer.read()
    return SignedIn(
        outcome="signed_in" if fresh or before is None else "already",
        scope=(record.tokens or {}).get("scope"),
        expires_at=record.expires_at,
    )


def _visited(entry: Entry, authenticator: Authenticator, needs: Needs, limit: float) -> bool:
    """Connect, list, and leave. Whether somebody signed in meanwhile."""
    made: list[Provider] = []

    def auth(asked: Entry) -> Provider | None:
        provider = authenticator(asked)
        made.extend([] if provider is None else [provider])
        return provider

    times = replace(entry.times, startup=entry.times.startup + limit)
    servers = Servers([replace(entry, times=times)], replace(needs, auth=auth))
    try:
        servers.start((entry.name,), times.startup + _GRACE)
        status = servers.statuses()[0]
    finally:
        servers.close(_GRACE)
    if status.state != "connected":
        failures = [provider.failure for provider in made if provider.failure is not None]
        raise (failures[-1] if failures else ServerFailure(status.error or "It did not answer.", kind="gone"))
    if not made:
        raise _suppressed(entry, "gets from its headers helper")
    return any(provider.signed_in for provider in made)


def _suppressed(entry: Entry, gets: str) -> ServerFailure:
    return ServerFailure(
        f"MCP server {one_line(entry.name)} {gets} an Authorization header, so no sign-in is used. Remove "
        f"the header to sign in."
    )


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
    """What the commands use. An entry is filled in as a session does it, and its address is used so."""

    def __init__(self, view: View, env: Mapping[str, str], agent: str | None = None) -> None:
        self._view = view
        self._agent = agent
        self._env = env
        self._home = checkrein_home(env)

    def login(self, server: Server, *, tell: Callable[[str], object], timeout: float) -> SignedIn:
        """Sign in, in the user's browser. Raises ServerFailure."""
        from checkrein.runtime.mcp.oauth.browser import Browser
        from checkrein.runtime.mcp.oauth.consent import Person
        from checkrein.runtime.process.spawner import Spawner

        terminal = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
        with Spawner(lambda origin: True) as spawner, Ground(self._view, self._env) as ground:
            person = Person(
                browse=Browser(spawner, self._env, os.getcwd()), tell=tell, terminal=terminal, limit=timeout
            )
            entry = resolve(server, ground.place, self._agent)
            return log_in(entry, self._home, person, self._env, ground.needs)

    def logout(self, server: Server) -> bool:
        """Forget the tokens; False when there were none."""
        return log_out(self._entry(server), self._home).known

    def keep_secret(self, server: Server, secret: str) -> None:
        entry = self._entry(server)
        keep_secret(self._home, entry.name, entry.url, secret)

    def _entry(self, server: Server) -> Entry:
        return resolve(server, place_of(self._view.project, self._env), self._agent)
