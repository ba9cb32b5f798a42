"""Requests to authorization servers: over a private way, within their origin, bounded in time and size.

Imports the `mcp` package's HTTP client: only for the thread of the servers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

import httpx2
import msgspec

from checkrein.base.harmless import one_line
from checkrein.policy.abstract import ANY
from checkrein.policy.hosts import host_of, is_private
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.oauth.oauth_settings import is_private_way

_LARGEST = 1 << 20
_SECONDS = 30.0
_REDIRECTS = 5
_LONGEST = 300

ClientFactory = Callable[[], httpx2.AsyncClient]


def new_client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=httpx2.Timeout(_SECONDS))


class Exchange:
    """Sends for one server. `hide` masks the secrets in a text, `configured` are further addresses of the
    user's own configuration."""

    def __init__(
        self,
        server: str,
        server_url: str,
        hide: Callable[[str], str],
        client: ClientFactory = new_client,
        configured: Iterable[str] = (),
    ) -> None:
        self._server = server
        self._server_url = server_url
        self._hosts = {host_of(one) for one in (server_url, *configured)}
        self._hide = hide
        self._client = client

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, with its body. Raises ServerFailure when there is none."""
        try:
            async with self._client() as client:
                for _ in range(_REDIRECTS):
                    response, onward = await self._sent(client, request)
                    if onward is None:
                        break
                    request = onward
        except httpx2.HTTPError as error:
            raise self.failure(
                f"{_host(request)} can't be reached: {one_line(str(error)) or type(error).__name__}"
            ) from None
        return response

    async def _sent(
        self, client: httpx2.AsyncClient, request: httpx2.Request
    ) -> tuple[httpx2.Response, httpx2.Request | None]:
        why = self.refused(str(request.url))
        if why is not None:
            raise self.failure(f"{_host(request)} {why}, so nothing was sent there")
        response = await client.send(request, stream=True, follow_redirects=False)
        body = b""
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _LARGEST:
                    raise self.failure(f"{_host(request)} sent more than {_LARGEST // 1024} KiB")
        finally:
            await response.aclose()
        kept = {name: response.headers[name] for name in ("content-type",) if name in response.headers}
        whole = httpx2.Response(response.status_code, headers=kept, content=body, request=request)
        onward = response.next_request
        if onward is not None and (onward.method != request.method or _origin(onward) != _origin(request)):
            onward = None
        return whole, onward

    def refused(self, url: str) -> str | None:
        """Why nothing of ours goes to an address that a server names. A server out there names nothing inside
        the user's network: nobody else could reach it."""
        if not is_private_way(url, self._server_url):
            return "is not reached over https"
        host = host_of(url)
        inside = host == ANY or is_private(host)
        if inside and host not in self._hosts and not is_private(host_of(self._server_url)):
            return "is inside this network, and the server is not"
        return None

    def failure(self, text: str, *, kind: str = "failed") -> ServerFailure:
        return ServerFailure(f"MCP server {self._server}: {self._hide(text)}.", kind=kind)

    def refusal(self, response: httpx2.Response, what: str, *, kind: str = "needs_auth") -> ServerFailure:
        """Why an authorization server refused, in its own words as far as they are harmless."""
        try:
            given = msgspec.json.decode(response.content)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            given = {}
        said = [given.get(key) for key in ("error", "error_description")] if isinstance(given, dict) else []
        why = ": ".join(one for one in said if isinstance(one, str))[:_LONGEST]
        text = f"{_host(response.request)} refused {what} (status {response.status_code})"
        return self.failure(f"{text}: {one_line(why)}" if why else text, kind=kind)


def _origin(request: httpx2.Request) -> tuple[str, str, int | None]:
    return request.url.scheme, request.url.host, request.url.port


def _host(request: httpx2.Request) -> str:
    return one_line(urlsplit(str(request.url)).netloc.rpartition("@")[2])
