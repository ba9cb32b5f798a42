"""Signing in to a server with an address, out of it, and the secret of a client that is registered there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from checkrein.model.items import Server
from checkrein.model.view import View

Tell = Callable[[str], object]
"""Says something to the person: the address to open, when no browser does it."""


class SignIn(Protocol):
    """Tokens and secrets stay in the Checkrein home and are never returned."""

    def login(self, server: Server, *, tell: Tell, timeout: float) -> object:
        """Sign in, in the user's browser. Raises ServerFailure."""
        ...

    def logout(self, server: Server) -> bool:
        """Forget the tokens, and revoke them where the server offers it; False when there were none. A server
        that does not answer changes nothing: the tokens are gone here."""
        ...

    def keep_secret(self, server: Server, secret: str) -> None:
        """Remember the secret of the client that the entry names."""
        ...


def sign_in(view: View, env: Mapping[str, str], agent: str | None = None) -> SignIn:
    """`view` is the project that the servers are part of, `agent` the agent whose own they are."""
    from checkrein.runtime.mcp.oauth import login

    return login.SignIn(view, env, agent)
