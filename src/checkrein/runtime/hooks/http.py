"""Http hooks: post the event's JSON to a URL that the settings allow. They follow no redirects."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from checkrein.model.items import Hook
from checkrein.runtime.hooks.output import Raw
from checkrein.runtime.hooks.ports import Ports

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

    from checkrein.llm.cancel import Cancel

_BODY_LIMIT = 1 << 20
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


def run_http(
    hook: Hook,
    payload: dict[str, Any],
    ports: Ports,
    env: Mapping[str, str],
    seconds: float,
    cancel: Cancel,
) -> Raw:
    """Post and read the answer within `seconds`, even when it comes slowly."""
    from http.client import HTTPException

    from checkrein.base.wellformed import encode

    url = hook.url or ""
    if not url_allowed(url, ports.allowed_urls):
        return Raw(failure="the URL is not in allowedHttpHookUrls", exit_code=None)
    deadline = time.monotonic() + seconds
    try:
        connection, target = _connection(url, seconds)
    except ValueError as error:
        return Raw(failure=str(error), exit_code=None)
    headers = {"Content-Type": "application/json", **filled_headers(hook, ports.allowed_env, env)}
    body = encode(payload)
    try:
        with cancel.on_cancel(lambda: _cut(connection)):
            connection.request("POST", target, body, headers)
            response = connection.getresponse()
            data = _read(response, connection, deadline)
    except TimeoutError:
        return Raw(failure=f"no answer within {seconds:g} s", timed_out=True, exit_code=None)
    except (OSError, HTTPException, ValueError) as error:
        if cancel.cancelled:
            return Raw(cancelled=True, exit_code=None)
        return Raw(failure=f"no answer: {type(error).__name__}: {error}", exit_code=None)
    finally:
        connection.close()
    if cancel.cancelled:
        return Raw(cancelled=True, exit_code=None)
    if data is None:
        return Raw(failure=f"the answer is larger than {_BODY_LIMIT // 1024} KiB", exit_code=None)
    if not 200 <= response.status < 300:
        return Raw(failure=f"HTTP status {response.status}", exit_code=None)
    return Raw(stdout=data.decode("utf-8", "replace").replace("\0", ""), exit_code=None, json_only=True)


def url_allowed(url: str, patterns: tuple[str, ...] | None) -> bool:
    """`*` in a pattern matches any text; None allows everything, an empty list nothing."""
    if patterns is None:
        return True
    return any(
        re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), url, re.DOTALL) for pattern in patterns
    )


def filled_headers(hook: Hook, allowed: tuple[str, ...] | None, env: Mapping[str, str]) -> dict[str, str]:
    """Headers with `$VAR` and `${VAR}` from the environment, for names that hook and settings allow."""
    names = {name for name in hook.allowed_env if allowed is None or name in allowed}

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return env.get(name, "") if name in names else ""

    return {key: _VARIABLE.sub(value, text) for key, text in hook.headers.items()}


def _connection(url: str, seconds: float) -> tuple[HTTPConnection, str]:
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the URL must start with http:// or https://")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    target = parts.path or "/"
    return kind(
        parts.hostname, parts.port, timeout=seconds
    ), f"{target}?{parts.query}" if parts.query else target


def _read(response: HTTPResponse, connection: HTTPConnection, deadline: float) -> bytes | None:
    """The body; None when it is too large. Each piece gets only the remaining time."""
    data = bytearray()
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if connection.sock is not None:
            connection.sock.settimeout(left)
        piece = response.read1(1 << 16)
        if not piece:
            return bytes(data)
        data += piece
        if len(data) > _BODY_LIMIT:
            return None


def _cut(connection: HTTPConnection) -> None:
    import contextlib
    import socket

    sock = connection.sock
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
