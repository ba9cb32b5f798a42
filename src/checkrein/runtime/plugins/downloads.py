"""Files over HTTPS: bounded, every redirect judged. Private addresses only where the user named the host."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit

from checkrein.base.errors import UsageError
from checkrein.llm.proxy import proxy_for
from checkrein.policy.hosts import is_private_address, names_of, normal_host
from checkrein.runtime.plugins.git_source import FetchError
from checkrein.runtime.plugins.package_tree import MOST_BYTES
from checkrein.runtime.process.tunnel import through

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel

_TIMEOUT = 30.0
_LONGEST = 600.0
"""Seconds for a whole download: a server that sends a byte now and then never meets the other limit."""
_HOPS = 5
_BLOCK = 1 << 16
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def download(
    url: str,
    file: str,
    *,
    env: Mapping[str, str],
    cancel: Cancel,
    named: tuple[str, ...] = (),
    headers: Mapping[str, str] | None = None,
    limit: int = MOST_BYTES,
) -> None:
    """Write what `url` gives into the new file `file`. `named` are the hosts, with port, that the user wrote
    himself: only they may have a private address, or speak plain HTTP on this machine. `headers` go to the
    first address alone."""
    asked, sent = url, dict(headers or {})
    with cancel.branch(_LONGEST) as part:
        for _ in range(_HOPS):
            parts = _checked(asked, named)
            following = _fetched(parts, file, env, part, parts.netloc in named, (sent, limit))
            if following is None:
                return
            asked = urljoin(asked, following)
            sent = sent if urlsplit(asked).netloc == parts.netloc else {}
    raise FetchError(f"{url} leads on and on: more than {_HOPS} redirects.")


def _checked(url: str, named: tuple[str, ...]) -> SplitResult:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise UsageError(f"{url!r} is not an address.") from None
    plain = parts.scheme == "http" and host in _LOOPBACK and parts.netloc in named
    if not host or parts.username or (parts.scheme != "https" and not plain):
        raise UsageError(f"{url!r} must begin with https:// and have no user name.")
    return parts


def _fetched(
    url: SplitResult,
    file: str,
    env: Mapping[str, str],
    cancel: Cancel,
    named: bool,
    request: tuple[Mapping[str, str], int],
) -> str | None:
    """Write the body, or give where a redirect leads."""
    headers, limit = request
    connection = _connected(url, env, named)
    line = connection.sock  # the connection gives it up while the body is read

    def hang_up() -> None:
        with contextlib.suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)

    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    try:
        with cancel.on_cancel(hang_up):
            connection.request("GET", target, headers={"User-Agent": "checkrein", "Accept": "*/*", **headers})
            response = connection.getresponse()
            moved = response.getheader("location") if response.status in (301, 302, 303, 307, 308) else None
            if moved is not None:
                return moved
            if response.status != 200:
                raise FetchError(f"{url.hostname} answered {response.status} {response.reason}.")
            _write(response, file, limit)
            if cancel.cancelled:
                raise TimeoutError("it was stopped")
            return None
    except (OSError, http.client.HTTPException) as error:
        if cancel.why == "deadline":
            raise FetchError(f"The download from {url.hostname} took too long.", retryable=True) from None
        raise FetchError(f"The download from {url.hostname} failed: {error}", retryable=True) from None
    finally:
        connection.close()


def _write(response: http.client.HTTPResponse, file: str, limit: int) -> None:
    left = limit
    with open(file, "xb") as out:
        while block := response.read(_BLOCK):
            left -= len(block)
            if left < 0:
                raise FetchError(f"The download is larger than {limit >> 20} MiB.")
            out.write(block)


def _connected(url: SplitResult, env: Mapping[str, str], named: bool) -> http.client.HTTPConnection:
    host, secure = url.hostname or "", url.scheme == "https"
    port = url.port or (443 if secure else 80)
    proxy = proxy_for(url.scheme, host, port, env)
    made = http.client.HTTPConnection(host, port, timeout=_TIMEOUT)
    try:
        if proxy is None:
            made.sock = socket.create_connection((_address(host, port, named), port), timeout=_TIMEOUT)
        else:
            _require_public(host, named)
            made.sock = through(proxy, host, port, _TIMEOUT)
        if secure:
            import ssl

            made.sock = ssl.create_default_context().wrap_socket(made.sock, server_hostname=host)
    except OSError as error:
        made.close()
        raise FetchError(f"{host} could not be reached: {error}", retryable=True) from None
    return made


def _address(host: str, port: int, named: bool) -> str:
    """One address of a host, judged before it is used."""
    try:
        found = [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise FetchError(f"{host} has no known address: {error}", retryable=True) from None
    private = [one for one in found if is_private_address(one)]
    if private and not named:
        raise FetchError(f"{host} is at {private[0]}, which is not a public address.")
    return found[0]


def _require_public(host: str, named: bool) -> None:
    """For what a proxy resolves: an address that is written out, and the names of this machine."""
    plain = normal_host(host)
    inside = len(names_of(plain)) > 1 or (
        (plain.replace(".", "").isdecimal() or ":" in plain) and is_private_address(plain)
    )
    if inside and not named:
        raise FetchError(f"{host} is not a public address.")


def basename(url: str) -> str:
    return os.path.basename(urlsplit(url).path) or "download"
