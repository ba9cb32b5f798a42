"""The server on loopback: a token, and a Host and Origin of this machine, before anything else is read."""

from __future__ import annotations

import hmac
import socket
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from checkrein.serve.mcp.arrivals import ADMITTED, Arrival
from checkrein.serve.mcp.kept_events import KeptEvents

PATH = "/mcp"
_SESSIONS = 512
_BODY = 4 << 20
_RETRY = 1_000
"""Milliseconds after which a client connects a broken stream again."""
_CONNECTIONS = 2_048
_AT_ONCE = 256
"""Connections that are accepted before the first is looked at: a flood must not use up descriptors."""
_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})


class Guard:
    """Refuses a request that a page of another origin, another name of this machine, or a stranger made."""

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner = inner
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            scope[ADMITTED] = True
            await self._inner(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.lower(), []).append(value)
        hosts, origins = given.get(b"host", []), given.get(b"origin", [])
        if len(hosts) != 1 or _host(hosts[0].decode("latin-1")) not in _NAMES:
            return PlainTextResponse("Use this server by a name of this machine.", 421)
        if any(not _is_local(origin.decode("latin-1")) for origin in origins):
            return PlainTextResponse("Pages of other origins can't use this server.", 403)
        tokens = given.get(b"authorization", [])
        if len(tokens) != 1 or not hmac.compare_digest(tokens[0], self._token):
            headers = {"WWW-Authenticate": 'Bearer realm="checkrein"'}
            return PlainTextResponse("This server needs its token.", 401, headers=headers)
        return None


def _host(text: str) -> str:
    """A Host without its port."""
    name, colon, port = text.rpartition(":")
    return name.lower() if colon and port.isdecimal() else text.lower()


def _is_local(origin: str) -> bool:
    scheme, colon, rest = origin.partition("://")
    return bool(colon) and scheme in ("http", "https") and _host(rest) in _NAMES


class _Sessions(StreamableHTTPSessionManager):
    """Each client keeps events of its own: the library has one store for all, in which the streams of two
    clients have the same id."""

    def _admit_session(self, requestor: Any) -> Any:
        self.event_store = KeptEvents()
        return super()._admit_session(requestor)


def make_app(server: Server[Any], token: str) -> ASGIApp:
    """The server as an ASGI application."""
    manager = _Sessions(
        server,
        retry_interval=_RETRY,
        max_request_body_size=_BODY,
        max_sessions=_SESSIONS,
    )
    routes = [Route(PATH, endpoint=StreamableHTTPASGIApp(manager))]
    return Guard(Starlette(routes=routes, lifespan=lambda app: manager.run()), token)


def listening(port: int) -> socket.socket:
    """A socket on loopback; port 0 takes a free one."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
        bound.listen(_AT_ONCE)
    except BaseException:
        bound.close()
        raise
    return bound


def make_http(server: Server[Any], token: str) -> uvicorn.Server:
    """`serve(sockets=[listening(port)])` serves until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        make_app(server, token),
        http=Arrival,
        log_level="critical",
        access_log=False,
        lifespan="on",
        limit_concurrency=_CONNECTIONS,
        backlog=_AT_ONCE,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        server_header=False,
    )
    return uvicorn.Server(config)
