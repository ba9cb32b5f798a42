"""The `oauth` keys of a remote server, checked. A wrong value fails that server with the key and the fix."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Literal, Protocol, cast, get_args
from urllib.parse import urlsplit

from msgspec import Struct

from checkrein.base.origin import Origin, Scope
from checkrein.facts.mcp import SIGNING_ALGORITHMS
from checkrein.runtime.mcp.connection import ServerFailure

Grant = Literal["authorization_code", "client_credentials", "token_exchange"]

_FOREIGN: tuple[Scope, ...] = ("project", "plugin")
"""Scopes of entries that somebody else wrote: they name no file whose content would leave the machine."""


class RemoteEntry(Protocol):
    """What a sign-in needs to know of a server."""

    @property
    def name(self) -> str: ...
    @property
    def named(self) -> str:
        """How the commands on servers name it."""
        ...

    @property
    def url(self) -> str | None: ...
    @property
    def transport(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def oauth(self) -> Mapping[str, Any]: ...
    @property
    def origin(self) -> Origin: ...


class Idp(Struct, frozen=True, kw_only=True):
    """The identity provider that turns the user's ID token into a grant for the server."""

    token_endpoint: str
    client_id: str | None = None
    id_token_file: str | None = None


class OAuthSettings(Struct, frozen=True, kw_only=True):
    client_id: str | None = None
    callback_port: int | None = None
    scopes: str | None = None
    metadata_url: str | None = None
    client_metadata_url: str | None = None
    grant: Grant = "authorization_code"
    private_key_file: str | None = None
    signing_algorithm: str = SIGNING_ALGORITHMS[0]
    idp: Idp | None = None

    @property
    def needs_person(self) -> bool:
        return self.grant == "authorization_code"

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where the user lets requests go, besides the server's own address."""
        named = (self.metadata_url, self.idp and self.idp.token_endpoint)
        return tuple(one for one in named if one)


def is_foreign(entry: RemoteEntry) -> bool:
    """Whether a project or a plugin wrote the entry."""
    return entry.origin.scope in _FOREIGN


def is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def is_private_way(url: str, beside: str) -> bool:
    """Whether secrets may go to `url`: over https, or inside this machine when `beside` is there too."""
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        return False
    return scheme == "https" or (scheme == "http" and is_loopback(url) and is_loopback(beside))


def settings_of(entry: RemoteEntry) -> OAuthSettings:
    """Raises ServerFailure when a key is wrong."""
    keys = _Keys(entry, entry.oauth, "oauth")
    grant = keys.choice("grant", get_args(Grant))
    settings = OAuthSettings(
        client_id=keys.text("clientId"),
        callback_port=keys.port("callbackPort"),
        scopes=keys.words("scopes"),
        metadata_url=keys.https("authServerMetadataUrl"),
        client_metadata_url=keys.https("clientMetadataUrl", with_path=True),
        grant=cast(Grant, grant or "authorization_code"),
        private_key_file=keys.file("privateKeyFile"),
        signing_algorithm=keys.choice("signingAlgorithm", SIGNING_ALGORITHMS) or SIGNING_ALGORITHMS[0],
        idp=_idp(entry, keys),
    )
    if settings.grant != "authorization_code" and settings.client_id is None:
        raise keys.wrong("clientId", f"is missing; `oauth.grant` {settings.grant} needs it")
    if settings.grant == "token_exchange" and settings.idp is None:
        raise keys.wrong("idp", "is missing; `oauth.grant` token_exchange needs it")
    return settings


def _idp(entry: RemoteEntry, keys: _Keys) -> Idp | None:
    given = keys.value("idp")
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise keys.wrong("idp", "must be an object with `tokenEndpoint`")
    inner = _Keys(entry, given, "oauth.idp")
    endpoint = inner.text("tokenEndpoint")
    if endpoint is None:
        raise inner.wrong("tokenEndpoint", "is missing")
    if not is_private_way(endpoint, entry.url or ""):
        raise inner.wrong("tokenEndpoint", "must be an https address")
    return Idp(
        token_endpoint=endpoint, client_id=inner.text("clientId"), id_token_file=inner.file("idTokenFile")
    )


class _Keys:
    """Reads the keys of one object. Keys that nobody knows are for others to report."""

    def __init__(self, entry: RemoteEntry, given: Mapping[str, Any], where: str) -> None:
        self._entry = entry
        self._given = given
        self._where = where

    def wrong(self, key: str, what: str) -> ServerFailure:
        return ServerFailure(f"MCP server {self._entry.name}: `{self._where}.{key}` {what}.")

    def value(self, key: str) -> Any:
        return self._given.get(key)

    def text(self, key: str) -> str | None:
        value = self._given.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, "must be a text that is not empty")
        return value

    def words(self, key: str) -> str | None:
        """Words with spaces between them, or a list of words."""
        value = self._given.get(key)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            value = " ".join(value)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, "must be a text with spaces between the scopes")
        return " ".join(value.split()) or None if value else None

    def choice(self, key: str, allowed: tuple[str, ...]) -> str | None:
        value = self.text(key)
        if value is not None and value not in allowed:
            raise self.wrong(key, f"must be one of {', '.join(allowed)}")
        return value

    def port(self, key: str) -> int | None:
        value = self._given.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 65536:
            raise self.wrong(key, "must be a number from 1 to 65535")
        return value

    def https(self, key: str, *, with_path: bool = False) -> str | None:
        value = self.text(key)
        if value is None:
            return None
        try:
            parts = urlsplit(value)
        except ValueError:
            raise self.wrong(key, "must be an https address") from None
        if parts.scheme != "https" or not parts.hostname:
            raise self.wrong(key, "must be an https address")
        if with_path and parts.path in ("", "/"):
            raise self.wrong(key, "must be an https address with a path")
        return value

    def file(self, key: str) -> str | None:
        value = self.text(key)
        if value is not None and is_foreign(self._entry):
            raise self.wrong(
                key,
                f"names a file of yours, and a {self._entry.origin.scope} wrote this entry. Add the server "
                f"to your own configuration with `checkrein mcp add --scope user`",
            )
        return value
