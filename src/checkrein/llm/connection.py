"""One connection to a model endpoint, and what its errors mean."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from checkrein.base.errors import ConfigError
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.proxy import Proxy

_MOST_TRAILERS = 100
_LONGEST_LINE = 65536
LOOPBACK = ("127.0.0.1", "localhost", "::1")
Phase = Literal["connect", "answer", "body"]


def is_loopback(host: str) -> bool:
    return host in LOOPBACK or host.startswith("127.")


class Timeouts(Struct, frozen=True):
    """Seconds. `answer` is the wait for the first byte of an answer, `idle` the longest silence in it."""

    connect: float = 4.5
    answer: float = 600.0
    idle: float = 300.0


class Endpoint(Struct, frozen=True):
    """`start` says how to start what should listen there."""

    scheme: str
    host: str
    port: int
    path: str
    start: str | None = None

    @classmethod
    def parse(cls, url: str, start: str | None = None) -> Endpoint:
        try:
            parts = urlsplit(url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            parts, port = urlsplit(""), 0
        blank = any(char <= " " or char == "\x7f" for char in url)
        unread = parts.username or parts.query or blank
        if parts.scheme not in ("http", "https") or not parts.hostname or unread:
            raise ConfigError(
                "The base URL of the model endpoint is not valid.",
                hint="Write it as https://HOST[:PORT][/PATH], without user, password or query.",
            )
        return cls(parts.scheme, parts.hostname, port, parts.path.rstrip("/"), start)

    @property
    def authority(self) -> str:
        """The host as a `host` header has it."""
        return self._host if self.port == (443 if self.scheme == "https" else 80) else self._named

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    def __str__(self) -> str:
        return f"{self.scheme}://{self._named}"

    @property
    def _host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def _named(self) -> str:
        return f"{self._host}:{self.port}"


class _Response(http.client.HTTPResponse):
    """An answer whose trailers end."""

    def _read_and_discard_trailer(self) -> None:
        for _ in range(_MOST_TRAILERS):
            if self.fp.readline(_LONGEST_LINE) in (b"\r\n", b"\n", b""):
                return
        raise http.client.HTTPException("too many trailers")


class Connection(http.client.HTTPConnection):
    """A connection that knows its socket before it connects, so that `abort` works at any time."""

    response_class = _Response

    def __init__(
        self, endpoint: Endpoint, proxy: Proxy | None, timeouts: Timeouts, tls: Callable[[], ssl.SSLContext]
    ) -> None:
        super().__init__(*((proxy.host, proxy.port) if proxy else (endpoint.host, endpoint.port)))
        self._endpoint, self._timeouts, self._tls = endpoint, timeouts, tls
        self.default_port = 443 if endpoint.scheme == "https" else 80
        if proxy and endpoint.scheme == "https":
            credentials = {"Proxy-Authorization": proxy.authorization} if proxy.authorization else {}
            self.set_tunnel(endpoint.host, endpoint.port, headers=credentials)
        self._create_connection = self._dial
        self._raw: socket.socket | None = None
        self._aborted = False
        self._looked = threading.Event()
        self.used = 0.0

    def connect(self) -> None:
        super().connect()
        if self._endpoint.scheme == "https":
            self.sock = self._tls().wrap_socket(
                self.sock, server_hostname=self._endpoint.host, do_handshake_on_connect=False
            )
            self._hold(self.sock)
            self.sock.do_handshake()

    def _dial(
        self, address: tuple[str, int], timeout: object = None, source_address: object = None
    ) -> socket.socket:
        problem: OSError | None = None
        deadline = time.monotonic() + self._timeouts.connect
        found = self._resolved(*address)
        for left, (family, kind, number, _, target) in zip(range(len(found), 0, -1), found, strict=True):
            candidate = socket.socket(family, kind, number)
            try:
                candidate.settimeout(max(0.1, (deadline - time.monotonic()) / left))
                self._hold(candidate)
                candidate.connect(target)
            except OSError as error:
                candidate.close()
                problem = error
                if self._aborted:
                    break
            else:
                candidate.settimeout(self._timeouts.connect)  # for what comes before the request
                return candidate
        raise problem or OSError("the host has no address")

    def _resolved(self, host: str, port: int) -> list[Any]:
        """The addresses of a host. Looking them up can't be cut, so it gets a thread that `abort` leaves."""
        if host == "localhost" or host.replace(".", "").isdecimal() or ":" in host:
            return socket.getaddrinfo(_name(host), port, 0, socket.SOCK_STREAM)
        found: list[list[Any] | OSError] = []

        def look() -> None:
            try:
                found.append(socket.getaddrinfo(_name(host), port, 0, socket.SOCK_STREAM))
            except OSError as error:
                found.append(error)
            self._looked.set()

        threading.Thread(target=look, name="checkrein-resolve", daemon=True).start()
        self._looked.wait(self._timeouts.connect)
        if self._aborted:
            raise ConnectionAbortedError
        if not found:
            raise TimeoutError
        if isinstance(found[0], OSError):
            raise found[0]
        return found[0]

    def _hold(self, raw: socket.socket) -> None:
        self._raw = raw
        if self._aborted:
            raise ConnectionAbortedError

    def wait_at_most(self, seconds: float) -> None:
        if self._raw is not None:
            self._raw.settimeout(seconds)

    def abort(self) -> None:
        """End any wait on the socket. Safe from any thread."""
        self._aborted = True
        self._looked.set()
        if self._raw is not None:
            with contextlib.suppress(OSError):
                # SSLSocket.shutdown would take the TLS object from under the reading thread
                socket.socket.shutdown(self._raw, socket.SHUT_RDWR)


def _name(host: str) -> str | bytes:
    """Python encodes a text with IDNA, whose tables take a while to import. Most names do not need it."""
    return host.encode() if host.isascii() else host


def explain(
    error: Exception,
    phase: Phase,
    endpoint: Endpoint,
    timeouts: Timeouts,
    *,
    proxy: Proxy | None = None,
    cancelled: bool,
) -> ModelRequestError:
    """The failure that an exception of the socket, TLS or HTTP layers means. Never quotes a header."""
    if cancelled:
        return ModelRequestError("cancelled", "The model request was cancelled.")
    if proxy is not None and phase == "connect" and not isinstance(error, ssl.SSLError):
        return _unreachable(error, proxy, endpoint, timeouts)
    if isinstance(error, TimeoutError):
        if phase == "connect":
            return ModelRequestError(
                "transport", f"{endpoint} did not accept a connection within {timeouts.connect:g} s."
            )
        limit = timeouts.answer if phase == "answer" else timeouts.idle
        return ModelRequestError("idle_timeout", f"{endpoint} sent nothing for {limit:g} s.")
    if phase == "body":
        return ModelRequestError("dropped", f"{endpoint} dropped the connection in the middle of its answer.")
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
        return _tls(error, endpoint)
    if isinstance(error, socket.gaierror):
        return ModelRequestError(
            "transport", f"The host {endpoint.host} is not known.", hint="Check the base URL and the network."
        )
    if isinstance(error, ConnectionRefusedError):
        hint = endpoint.start or "Check that the endpoint is running."
        refused = ModelRequestError("transport", f"{endpoint} refused the connection.", hint=hint)
        refused.retryable = (
            not endpoint.is_loopback
        )  # nobody listens on this machine; waiting changes nothing
        return refused
    if isinstance(error, ConnectionError):
        return ModelRequestError("transport", f"{endpoint} closed the connection before answering.")
    if isinstance(error, OSError):
        return ModelRequestError("transport", f"{endpoint} can't be reached: {error.strerror or error}.")
    if isinstance(error, http.client.HTTPException):
        return ModelRequestError("malformed_stream", f"{endpoint} sent an answer that is not HTTP.")
    return ModelRequestError(
        "invalid_request",
        "The request can't be sent: a header or the path holds a character that HTTP does not allow.",
        hint="Check the key or token for line breaks.",
    )


def _unreachable(error: Exception, proxy: Proxy, endpoint: Endpoint, timeouts: Timeouts) -> ModelRequestError:
    """The proxy itself can't be used, or does not lead to the endpoint."""
    match error:
        case TimeoutError():
            problem = f"did not accept a connection within {timeouts.connect:g} s"
        case socket.gaierror():
            problem = "has a host that is not known"
        case ConnectionRefusedError():
            problem = "refused the connection"
        case ConnectionError():
            problem = "closed the connection"
        case OSError():
            problem = f"does not lead to {endpoint}: {error.strerror or error}"
        case _:
            problem = "sent an answer that is not HTTP"
    hint = f"Check {proxy.variable}, or name {endpoint.host} in no_proxy."
    failure = ModelRequestError("transport", f"{proxy} {problem}.", hint=hint)
    failure.retryable = not (isinstance(error, ConnectionRefusedError) and is_loopback(proxy.host))
    return failure


def _tls(error: ssl.SSLError, endpoint: Endpoint) -> ModelRequestError:
    if isinstance(error, ssl.SSLCertVerificationError):
        return ModelRequestError(
            "tls_failed",
            f"The certificate of {endpoint} is not trusted: {error.verify_message}.",
            hint="If a private authority signed it, name that authority's certificates in SSL_CERT_FILE.",
        )
    return ModelRequestError(
        "tls_failed",
        f"TLS with {endpoint} failed: {(error.reason or 'unknown').replace('_', ' ').lower()}.",
        hint="If the endpoint does not speak TLS, write http:// in its base URL.",
    )
