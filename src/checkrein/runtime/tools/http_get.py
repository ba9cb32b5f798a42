"""One GET over HTTP or HTTPS to an address that was judged before. It follows no redirects."""

from __future__ import annotations

import http.client
import socket
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import SplitResult

from msgspec import Struct

from checkrein.base.errors import ConfigError
from checkrein.llm.proxy import proxy_for
from checkrein.runtime.process.tunnel import through
from checkrein.runtime.tools import address
from checkrein.runtime.tools.port import ToolFailure

if TYPE_CHECKING:
    from checkrein.llm.port import Cancel

LARGEST = 10 << 20
TIMEOUT = 30.0
_BLOCK = 1 << 16
_FAILURES = (OSError, http.client.HTTPException, zlib.error)


class Answer(Struct, frozen=True):
    code: int
    reason: str
    headers: dict[str, str]
    body: bytes


def get(
    url: SplitResult,
    approved: tuple[str, ...],
    env: Mapping[str, str],
    agent: str,
    cancel: Cancel,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Fetch a page; `headers` replace the usual ones. Raises ToolFailure when that fails."""
    host = url.hostname or ""
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    connection = _connect(url, approved, env)

    def hang_up() -> None:
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)

    try:
        with cancel.on_cancel(hang_up):
            connection.request(
                "GET",
                target,
                headers={
                    "User-Agent": agent,
                    "Accept": "text/markdown, text/html, text/*;q=0.9, */*;q=0.5",
                    "Accept-Encoding": "gzip",
                    **(headers or {}),
                },
            )
            response = connection.getresponse()
            body = _body(response)
            received = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, response.reason, received, body)
    except _FAILURES as error:
        if cancel.cancelled:
            raise ToolFailure("The fetch was interrupted.") from None
        raise ToolFailure(f"The fetch from {host} failed: {error or type(error).__name__}") from None
    finally:
        connection.close()


def _connect(
    url: SplitResult, approved: tuple[str, ...], env: Mapping[str, str]
) -> http.client.HTTPConnection:
    """A connection to the judged address itself, or through the proxy of the environment."""
    host, secure = url.hostname or "", url.scheme == "https"
    port = url.port or (443 if secure else 80)
    try:
        proxy = proxy_for(url.scheme, host, port, env)
    except ConfigError as error:
        raise ToolFailure(error.message) from None
    if proxy is None:
        addresses = address.resolve(host, port, approved)
    else:
        _judge_through_proxy(host, port, approved)
    made = http.client.HTTPConnection(host, port, timeout=TIMEOUT)
    try:
        if proxy is None:
            made.sock = _dial(addresses, port)
        else:
            made.sock = through(proxy, host, port, TIMEOUT)
        if secure:
            import ssl

            made.sock = ssl.create_default_context().wrap_socket(made.sock, server_hostname=host)
    except OSError as error:
        made.close()
        raise ToolFailure(f"{host} could not be reached: {error}") from None
    return made


def _dial(addresses: tuple[str, ...], port: int) -> socket.socket:
    """The first of the judged addresses that answers."""
    for spare in addresses[:-1]:
        try:
            return socket.create_connection((spare, port), timeout=TIMEOUT / 3)
        except OSError:
            continue
    return socket.create_connection((addresses[-1], port), timeout=TIMEOUT)


def _judge_through_proxy(host: str, port: int, approved: tuple[str, ...]) -> None:
    """The proxy looks up the host. Judge the addresses that are known here all the same."""
    try:
        socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return
    address.resolve(host, port, approved)


def _body(response: http.client.HTTPResponse) -> bytes:
    """The unpacked content, at most LARGEST bytes: a small packed body can't become a huge one."""
    packed = response.getheader("content-encoding", "").lower()
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if packed in ("gzip", "x-gzip") else None
    body = bytearray()
    while len(body) <= LARGEST and (block := response.read(_BLOCK)):
        body += unpack.decompress(block, LARGEST + 1 - len(body)) if unpack else block
    if len(body) > LARGEST:
        raise ToolFailure(f"The page is larger than {LARGEST >> 20} MiB.")
    return bytes(body)
