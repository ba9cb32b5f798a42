"""Who asks: the credential of a model request. Its `source` is safe to show; its value is only in headers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from checkrein.base.errors import AuthError
from checkrein.llm.failures import CredentialRefusedError
from checkrein.llm.port import ModelEvent

_BETA = "anthropic-beta"
_EARLY = 60.0
"""Seconds before its end at which a token is no longer used."""


class Outgoing(Struct, frozen=True):
    """A request as the other side sees it, for credentials that sign it. `path` is the path on the wire, with
    the query."""

    host: str
    path: str
    body: bytes
    method: str = "POST"


class Credential(Protocol):
    """`headers` are those of one request. `renew` is called after a refusal; True when another try may
    succeed. Both may take a while, and raise AuthError."""

    source: str

    def headers(self, request: Outgoing) -> Mapping[str, str]: ...

    def secrets(self) -> tuple[str, ...]: ...

    def renew(self) -> bool: ...


Form = Callable[[str], Mapping[str, str]]
"""From a text to the headers that carry it."""


class Key:
    """A text that goes into headers as it is; None where the endpoint needs nothing. `form` makes the headers
    from it."""

    def __init__(self, source: str, value: str | None, form: Form) -> None:
        self.source = source
        self._value = value
        self._headers = form(value) if value else {}

    def headers(self, request: Outgoing) -> Mapping[str, str]:
        return self._headers

    def secrets(self) -> tuple[str, ...]:
        return (self._value,) if self._value else ()

    def renew(self) -> bool:
        return False


class Token(Struct, frozen=True):
    """It is used until `until`, a monotonic time; None means that it does not end by itself."""

    value: str
    until: float | None = None

    def __repr__(self) -> str:
        return f"Token(until={self.until})"


class FetchedToken:
    """A text that something has to give: a helper, a token endpoint. It is kept until it ends."""

    def __init__(self, source: str, fetch: Callable[[], Token], form: Form) -> None:
        self.source = source
        self._fetch = fetch
        self._form = form
        self._lock = threading.Lock()
        self._held: Token | None = None

    def headers(self, request: Outgoing) -> Mapping[str, str]:
        return self._form(self._token().value)

    def secrets(self) -> tuple[str, ...]:
        held = self._held
        return (held.value,) if held is not None else ()

    def renew(self) -> bool:
        with self._lock:
            had, self._held = self._held, None
        return had is not None

    def _token(self) -> Token:
        with self._lock:
            held = self._held
            if held is None or (held.until is not None and time.monotonic() > held.until):
                held = self._held = self._fetch()
            return held


def lasting(value: str, seconds: object) -> Token:
    """A token that the other side takes for so many seconds, if it says so."""
    if not isinstance(seconds, int | float):
        return Token(value)
    return Token(value, time.monotonic() + max(0.0, seconds - _EARLY))


def bearer(value: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {value}"}


def api_key(value: str) -> Mapping[str, str]:
    return {"x-api-key": value}


def key_and_bearer(value: str) -> Mapping[str, str]:
    """What a helper prints goes into both headers: it may be a key, or a gateway's token."""
    return {"x-api-key": value, "authorization": f"Bearer {value}"}


def joined(headers: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The headers of a request and those of its credential. Both may name beta features."""
    both = [one[_BETA] for one in (headers, own) if _BETA in one]
    return {**headers, **own, **({_BETA: ",".join(both)} if both else {})}


def with_renewal(once: Callable[[], Iterator[ModelEvent]], credential: Credential) -> Iterator[ModelEvent]:
    """The events of a request; it is sent a second time when the endpoint refuses an old credential."""
    try:
        try:
            yield from once()
        except CredentialRefusedError:
            if not credential.renew():
                raise
            yield from once()
    except CredentialRefusedError:
        raise
    except AuthError as error:  # nothing was sent: there is no credential to send
        raise CredentialRefusedError("authentication_failed", error.message, hint=error.hint) from None
