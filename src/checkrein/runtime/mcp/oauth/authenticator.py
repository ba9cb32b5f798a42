"""How the connections of a session sign in. Light: the `mcp` package is imported when a server needs it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from checkrein.runtime.mcp.headers import has_authorization
from checkrein.runtime.mcp.oauth.oauth_settings import RemoteEntry
from checkrein.runtime.mcp.oauth.token_store import Drawer

if TYPE_CHECKING:
    from checkrein.runtime.mcp.oauth.consent import Person
    from checkrein.runtime.mcp.oauth.providers import Provider


class Authenticator:
    """Gives each remote server its sign-in. Without `person` a stored token is used and renewed, and nobody
    is asked: a server that wants more fails with `ServerFailure` (needs_auth)."""

    def __init__(self, home: Path, env: Mapping[str, str], person: Person | None = None) -> None:
        self._home = home
        self._env = env
        self._person = person

    def __call__(self, entry: RemoteEntry) -> Provider | None:
        """None when the entry brings its own Authorization header, or has no address. Raises ServerFailure
        when an `oauth` key is wrong."""
        if not entry.url or has_authorization(entry.headers):
            return None
        from checkrein.runtime.mcp.oauth.providers import Means, Provider

        drawer = Drawer(self._home, entry.name, entry.url)
        return Provider(entry, drawer, Means(env=self._env, person=self._person))
