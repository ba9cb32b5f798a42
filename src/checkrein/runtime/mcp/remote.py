"""Remote servers as transports: streamable HTTP and SSE, with headers, logins and limits.

Only the loop's thread imports this module. Headers of an entry go to the origin of its URL and nowhere else.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from checkrein.facts import mcp
from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.mcp.event_loop import in_thread
from checkrein.runtime.mcp.faults import Fault, http_text, unreachable
from checkrein.runtime.mcp.headers import Headers, Run, headers

_CONNECT_SECONDS = 30.0
_PARTING_SECONDS = 1.0
_SESSION = "mcp-session-id"
_OURS = frozenset({"accept", "content-length", "content-type", "host", "transfer-encoding", _SESSION})
"""Headers that an entry can't set."""
_EVENTS = "text/event-stream"


class Credentials:
    """The headers of an entry; `renew` runs its helper again."""

    def __init__(self, entry: Entry, run: Run | None) -> None:
        self._entry = entry
        self._run = run
        self.current = Headers(entry.headers)

    async def renew(self) -> Headers:
        self.current = await in_thread(lambda: headers(self._entry, self._run))
        return self.current


class Renewed(httpx2.Auth):
    """Asks the helper once more when the server refuses its headers."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        response = yield request
        if response.status_code in (401, 403):
            await self._credentials.renew()
            yield request


class Endpoint(httpx2.AsyncClient):
    """The HTTP client of one server. A request that fails gets an answer with a `Fault` in it, so that it
    alone fails. `lost` hears of faults after which an SSE connection is of no use."""

    def __init__(
        self,
        entry: Entry,
        credentials: Credentials,
        auth: httpx2.Auth | None,
        lost: Callable[[Fault], object],
    ) -> None:
        super().__init__(
            auth=auth,
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=entry.times.first_byte),
            event_hooks={"request": [self._leaves], "response": [self._arrived]},
        )
        self._own = httpx2.URL(entry.url)
        self._credentials = credentials
        self._lost = lost

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as error:
            return self._failed(request, 502, unreachable(error))
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            return self._failed(request, 502, Fault(f"The answer can't be read: {error}.", 502))
        except Exception as error:
            if self.auth is None:
                raise
            return self._failed(request, 401, Fault(f"The login failed: {error}.", 401))
        fault = _fault(request, response)
        if fault is None:
            return response
        await response.aclose()
        return self._failed(request, response.status_code if response.is_error else 502, fault)

    def _failed(self, request: httpx2.Request, status: int, fault: Fault) -> httpx2.Response:
        if request.method == "POST":
            self._lost(fault)
        return httpx2.Response(
            status, headers={"content-type": "application/json"}, content=fault.body(), request=request
        )

    async def _leaves(self, request: httpx2.Request) -> None:
        if not _same_origin(request.url, self._own):
            return
        for name, value in self._credentials.current.values.items():
            if name.lower() not in _OURS:
                request.headers[name] = value
        request.headers["accept-encoding"] = "identity"
        if request.method == "DELETE":
            request.extensions["timeout"] = httpx2.Timeout(_PARTING_SECONDS).as_dict()

    async def _arrived(self, response: httpx2.Response) -> None:
        """The first byte is here; from now on the limits of the call count."""
        if not _same_origin(response.request.url, self._own):
            return
        if response.request.method != "DELETE":
            response.request.extensions.get("timeout", {})["read"] = None
        if _EVENTS not in response.headers.get("content-type", ""):
            response.stream = Limited(response.stream)


class Limited(httpx2.AsyncByteStream):
    """A body that breaks off when it is too long."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > mcp.MESSAGE_LIMIT:
                raise httpx2.StreamError(f"the answer is longer than {mcp.MESSAGE_LIMIT >> 20} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def remote(entry: Entry, client: Endpoint) -> AbstractAsyncContextManager[Any]:
    """The transport of a server of type `http` or `sse`."""
    if entry.transport == "sse":
        return sse_client(
            entry.url, httpx_client_factory=lambda headers=None, timeout=None, auth=None: client
        )
    return _streamable(entry.url, client)


@asynccontextmanager
async def _streamable(url: str, client: Endpoint) -> AsyncIterator[Any]:
    async with (
        client,
        streamable_http_client(url, http_client=client, max_sse_event_size=mcp.MESSAGE_LIMIT) as streams,
    ):
        yield streams


def _fault(request: httpx2.Request, response: httpx2.Response) -> Fault | None:
    """What is wrong with an answer, where the protocol library would not say it."""
    if response.status_code in (401, 403):
        return Fault(http_text(response), response.status_code)
    if response.headers.get("content-encoding", "identity").lower() not in ("identity", ""):
        return Fault("It sends compressed answers, although nobody asked for them.", 502)
    forgotten = response.status_code == 404 and _SESSION in request.headers
    is_json = response.headers.get("content-type", "").lower().startswith("application/json")
    if response.is_error and not is_json and not forgotten:
        return Fault(http_text(response), response.status_code)
    return None


def _same_origin(url: httpx2.URL, own: httpx2.URL) -> bool:
    return (url.scheme, url.host, url.port) == (own.scheme, own.host, own.port)
