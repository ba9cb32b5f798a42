"""A transport around another: what a server sends is made fit for the protocol library.

Only the loop's thread imports this module.
"""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import ValidationError

from checkrein.facts import mcp
from checkrein.runtime.mcp.definitions import KINDS, Page, plain, read
from checkrein.runtime.mcp.wire_messages import messages

if TYPE_CHECKING:
    from mcp.client import Transport

PAGE = "checkrein/page"
"""The key in `_meta` of a list's result under which `Sieve.take` finds the page."""
_KEPT = 4
_CARRIED = ("ttlMs", "cacheScope", "resultType")
_PARTED = ("content", "contents", "messages")
"""The lists of parts in the results of tools, resources and prompts."""


class Sieve:
    """`ended` is called once, when nothing more can come. `note` hears of what was skipped.

    A list reaches the library without its broken items; `take` gives the page as we read it. A server that
    asks more than it lets us answer is not heard."""

    def __init__(self, inner: Transport, ended: Callable[[], object], note: Callable[[str], object]) -> None:
        self._inner = inner
        self.ended = ended
        self.note = note
        self.lists: dict[str, str] = {}
        self.asked: set[str] = set()
        self._pages: dict[int, Page] = {}
        self._next = 0

    async def __aenter__(self) -> tuple[Inlet, Outlet]:
        read_stream, write_stream = await self._inner.__aenter__()
        return Inlet(read_stream, self), Outlet(write_stream, self)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

    def take(self, meta: Any) -> Page:
        """The page that belongs to the `_meta` of a list's result."""
        return self._pages.pop((meta or {}).get(PAGE, -1), Page())

    def passes(self, message: Any) -> bool:
        """Whether a message goes on to the library; a list is changed on its way."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            method = self.lists.pop(str(message.id), None)
            if isinstance(message, JSONRPCResponse):
                if method is not None:
                    self._sift(method, message)
                else:
                    self._shorten(message)
        elif isinstance(message, JSONRPCRequest):
            if len(self.asked) >= mcp.REQUESTS_MOST:
                self.note(f"a request `{message.method}` was dropped: too many wait for an answer")
                return False
            self.asked.add(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self.asked.discard(str((message.params or {}).get("requestId")))
        return True

    def leaves(self, message: Any) -> None:
        if isinstance(message, JSONRPCRequest) and message.method in KINDS:
            self.lists[str(message.id)] = message.method

    def left(self, message: Any) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self.asked.discard(str(message.id))

    def _sift(self, method: str, message: JSONRPCResponse) -> None:
        page = read(method, message.result)
        self._next += 1
        self._pages[self._next] = page
        if len(self._pages) > _KEPT:
            del self._pages[min(self._pages)]
        cursor = message.result.get("nextCursor")
        kept = {key: message.result[key] for key in _CARRIED if key in message.result}
        message.result = {**kept, KINDS[method].key: plain(method, page), "_meta": {PAGE: self._next}}
        if isinstance(cursor, str):
            message.result["nextCursor"] = cursor

    def _shorten(self, message: JSONRPCResponse) -> None:
        """Reading a million parts would keep the loop from every other server."""
        for key in _PARTED:
            parts = message.result.get(key)
            if isinstance(parts, list) and len(parts) > mcp.PARTS_MOST:
                self.note(f"{len(parts) - mcp.PARTS_MOST} parts of an answer were dropped")
                last = _dropped(key, len(parts) - mcp.PARTS_MOST)
                message.result = {**message.result, key: [*parts[: mcp.PARTS_MOST], last]}


class Inlet:
    """What comes from the server."""

    def __init__(self, inner: Any, sieve: Sieve) -> None:
        self._inner = inner
        self._sieve = sieve
        self._waiting: deque[SessionMessage] = deque()

    @property
    def last_context(self) -> contextvars.Context | None:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            while self._waiting:
                message = self._waiting.popleft()
                if self._sieve.passes(message.message):
                    return message
            try:
                item: SessionMessage | Exception = await self._inner.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._sieve.ended()
                raise
            if isinstance(item, Exception):
                found = _unread(item)
                if not found:
                    self._sieve.note("a message that is not JSON-RPC was skipped")
                self._waiting += map(SessionMessage, found)
            else:
                self._waiting.append(item)

    def __aiter__(self) -> Inlet:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Inlet:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()


class Outlet:
    """What goes to the server."""

    def __init__(self, inner: Any, sieve: Sieve) -> None:
        self._inner = inner
        self._sieve = sieve

    async def send(self, item: SessionMessage, /) -> None:
        self._sieve.leaves(item.message)
        await self._inner.send(item)
        self._sieve.left(item.message)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Outlet:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()


def _dropped(key: str, count: int) -> dict[str, Any]:
    """What stands for the parts that are too many."""
    block = {"type": "text", "text": f"[... {count:,} more parts dropped ...]"}
    match key:
        case "contents":
            return {"uri": "checkrein:dropped", "text": block["text"]}
        case "messages":
            return {"role": "user", "content": block}
    return block


def _unread(error: Exception) -> list[JSONRPCMessage]:
    """The messages in a text that the library could not read."""
    if not isinstance(error, ValidationError):
        return []
    text = error.errors(include_url=False, include_context=False)[0].get("input")
    return messages(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else []
