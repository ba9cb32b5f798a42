"""One small HTTP request and its whole answer: lists of models, tokens, metadata. Replies use `wire`."""

from __future__ import annotations

import contextlib
import http.client
import ssl
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from checkrein.llm.connection import Connection, Endpoint, Phase, Timeouts, explain
from checkrein.llm.proxy import proxy_for

_MOST = 4 << 20


class Fetched(Struct, frozen=True):
    """Header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def fetch(
    url: str,
    *,
    env: Mapping[str, str],
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    seconds: float = 4.0,
    start: str | None = None,
) -> Fetched:
    """The answer, whatever its status. Raises ModelRequestError when there is none within `seconds`."""
    parts = urlsplit(url)
    endpoint = Endpoint.parse(f"{parts.scheme}://{parts.netloc}", start)
    proxy = proxy_for(endpoint.scheme, endpoint.host, endpoint.port, env)
    timeouts = Timeouts(connect=seconds, answer=seconds, idle=seconds)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    if proxy and endpoint.scheme == "http":
        target = f"http://{endpoint.host}:{endpoint.port}{target}"
    connection = Connection(endpoint, proxy, timeouts, ssl.create_default_context)
    deadline = time.monotonic() + seconds
    phase: Phase = "connect"
    try:
        connection.connect()
        phase = "answer"
        connection.wait_at_most(max(0.05, deadline - time.monotonic()))
        connection.request(method, target, body or None, dict(headers or {}))
        response = connection.getresponse()
        data = response.read(_MOST)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise explain(error, phase, endpoint, timeouts, proxy=proxy, cancelled=False) from None
    finally:
        with contextlib.suppress(OSError):
            connection.close()
    return Fetched(response.status, {name.lower(): value for name, value in response.getheaders()}, data)
