"""The way to one client, for threads that work for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel

from checkrein.llm.cancel import Cancel

T = TypeVar("T", bound=BaseModel)
Request = ServerRequestContext[Any, Any]

_WAITING = 1_000
"""So many notifications wait for a client that does not read; further ones are dropped."""


class Line:
    """Made on the loop's thread, in a request of the client. `ask` and `tell` are for any other thread.

    What concerns a request travels with it: the newest one that is not answered yet."""

    def __init__(self, first: Request) -> None:
        self._loop = asyncio.get_running_loop()
        self._session = first.session
        self._open: dict[object, Request] = {}
        self._order = asyncio.Lock()
        self._waiting: set[asyncio.Future[None]] = set()
        self.level: types.LoggingLevel = "info"
        self.offered = types.ClientCapabilities()

    @property
    def capabilities(self) -> types.ClientCapabilities:
        """What the client can do: what it `offered`, while the handshake lasts."""
        return self._session.client_capabilities or self.offered

    @contextmanager
    def during(self, request: Request) -> Iterator[None]:
        """While a request is being answered."""
        key = object()
        self._open[key] = request
        try:
            yield
        finally:
            del self._open[key]

    def ask(self, request: Any, answer: type[T], cancel: Cancel) -> T:
        """The client's answer. Raises MCPError, or what ended the wait."""
        future = asyncio.run_coroutine_threadsafe(self._ask(request, answer), self._loop)
        with cancel.on_cancel(lambda: _dropped(future)):
            return future.result()

    def tell(self, notification: Any, *, apart: bool = False) -> None:
        """Send a notification soon, in order. One that stands `apart` concerns no request."""
        self._loop.call_soon_threadsafe(self._queue, notification, apart)

    def progress(self, request: Request, done: float, total: float | None, message: str | None) -> None:
        async def send() -> None:
            async with self._order:
                await request.session.report_progress(done, total, message)

        self._loop.call_soon_threadsafe(self._keep, send)

    async def settled(self) -> None:
        """What was said before an answer is sent before it."""
        while self._waiting:
            await asyncio.wait(self._waiting)

    async def _ask(self, request: Any, answer: type[T]) -> T:
        now = self._now
        if now is None:
            return await self._session.send_request(request, answer)
        about = ServerMessageMetadata(related_request_id=now.request_id)
        return await now.session.send_request(request, answer, metadata=about)

    @property
    def _now(self) -> Request | None:
        return next(reversed(self._open.values()), None)

    def _queue(self, notification: Any, apart: bool) -> None:
        now = None if apart else self._now

        async def send() -> None:
            async with self._order:
                if now is None:
                    await self._session.send_notification(notification)
                else:
                    await now.session.send_notification(notification, now.request_id)

        self._keep(send)

    def _keep(self, send: Any) -> None:
        if len(self._waiting) < _WAITING:
            task = asyncio.ensure_future(send())
            self._waiting.add(task)
            task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Future[None]) -> None:
        self._waiting.discard(task)
        if not task.cancelled():
            task.exception()  # the client has gone: nobody misses it


def _dropped(future: Future[Any]) -> None:
    future.cancel()
