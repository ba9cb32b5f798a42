"""A server in the process of the program that started Checkrein: its messages go through the port `Exchange`.

It speaks the protocol without the `mcp` package, which takes two seconds to import: the handshake, the lists,
and the requests of a `Connection`. The server can ask us nothing, and nothing it says without a question
arrives.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checkrein import __version__
from checkrein.base.harmless import one_line
from checkrein.facts import mcp
from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import (
    CallResult,
    Catalog,
    Progress,
    PromptMessage,
    ServerFailure,
)
from checkrein.runtime.mcp.definitions import Offer, read
from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.mcp.front import Front
from checkrein.runtime.mcp.needs import Needs

_LISTS = {
    "tools": ("tools/list",),
    "prompts": ("prompts/list",),
    "resources": ("resources/list", "resources/templates/list"),
}
_ABSENT = "The program that started Checkrein serves no MCP servers."


class _Greeting(Struct, frozen=True):
    """The server's answer to the handshake."""

    capabilities: dict[str, Any] = {}
    instructions: str = ""
    protocol: str = ""
    name: str = ""
    version: str = ""


class InProcess(Front):
    """A `Connection`, with the same life as a `Link`. `greet` may come before `begin`."""

    def __init__(self, entry: Entry, needs: Needs) -> None:
        super().__init__(entry, needs)
        self._greeting_lock = threading.Lock()
        self._greeting: _Greeting | None = None
        self._over = Cancel()
        self._working: threading.Thread | None = None
        self._last_id = -1

    def greet(self) -> None:
        """Say the first word of the handshake, if nobody has. Waits for the answer; a failure shows when the
        server begins."""
        with contextlib.suppress(ServerFailure):
            self._greeted(self._over)

    def begin(self) -> None:
        """Connect. Returns at once."""
        with self._lock:
            if self.entry.problem or (self._working is not None and self._working.is_alive()):
                return
            self._over = Cancel()
            self._board.state("pending")
            self._working = threading.Thread(
                target=self._connect, args=(self._over,), name="checkrein-mcp-sdk", daemon=True
            )
            self._working.start()

    def end(self, grace: float, disabled: str | None = None) -> None:
        """Stop waiting for the server, whose process is not ours to end."""
        self.release()
        self._switched_off(disabled)

    def release(self) -> None:
        with self._lock:
            self._over.cancel()
            self._working, self._greeting = None, None

    def roots_changed(self) -> None:
        """The server hears of no roots."""

    def call_tool(
        self,
        tool: str,
        input: dict[str, Any],
        cancel: Cancel,
        progress: Progress | None = None,
        call: str = "",
    ) -> CallResult:
        params: dict[str, Any] = {"name": tool, "arguments": input}
        if call:
            params["_meta"] = {mcp.CALL_ID: call}
        result = self._request("tools/call", params, cancel, self.entry.times.call)
        content = result.get("content")
        return CallResult(
            content=tuple(content[: mcp.PARTS_MOST]) if isinstance(content, list) else (),
            structured=result.get("structuredContent"),
            is_error=result.get("isError") is True,
            meta=_map(result.get("_meta")),
        )

    def read_resource(self, uri: str, cancel: Cancel) -> tuple[dict[str, Any], ...]:
        result = self._request("resources/read", {"uri": uri}, cancel, self.entry.times.call)
        return tuple(one for one in _list(result.get("contents"))[: mcp.PARTS_MOST] if isinstance(one, dict))

    def get_prompt(self, prompt: str, arguments: dict[str, str], cancel: Cancel) -> tuple[PromptMessage, ...]:
        params = {"name": prompt, "arguments": arguments}
        result = self._request("prompts/get", params, cancel, self.entry.times.call)
        return tuple(
            PromptMessage(role=str(one.get("role", "user")), content=_map(one.get("content")))
            for one in _list(result.get("messages"))[: mcp.PARTS_MOST]
            if isinstance(one, dict)
        )

    def _connect(self, over: Cancel) -> None:
        began = time.monotonic()
        try:
            greeting = self._greeted(over)
            self._say({"method": "notifications/initialized"}, over, self.entry.times.startup)
            faults: list[str] = []
            offers = {
                kind: tuple(self._listed(kind, over, faults))
                for kind in _LISTS
                if greeting.capabilities.get(kind) is not None
            }
        except ServerFailure as error:
            self._tell(over, "failed", error.message)
            return
        except Exception as error:
            self._tell(over, "failed", f"Checkrein could not run it: {error!r}.")
            return
        catalog = Catalog(
            **offers,  # type: ignore[arg-type]
            instructions=greeting.instructions[: mcp.INSTRUCTIONS_LIMIT],
            server_name=greeting.name[: mcp.NAME_LIMIT],
            server_version=greeting.version[: mcp.NAME_LIMIT],
            protocol=greeting.protocol,
        )
        self._board.listed(catalog, tuple(faults))
        self._tell(over, "connected", None, int((time.monotonic() - began) * 1000))

    def _tell(self, over: Cancel, state: Any, error: str | None, took: int | None = None) -> None:
        """The state that a connection came to, unless somebody has ended it meanwhile."""
        if not over.cancelled:
            self._board.state(state, error, took)

    def _greeted(self, over: Cancel) -> _Greeting:
        with self._greeting_lock:
            if self._greeting is None:
                about = {"name": "checkrein", "title": "Checkrein", "version": __version__}
                params = {"protocolVersion": mcp.PROTOCOL, "capabilities": {}, "clientInfo": about}
                result = self._answer("initialize", params, over, self.entry.times.startup)
                server = _map(result.get("serverInfo"))
                self._greeting = _Greeting(
                    capabilities=_map(result.get("capabilities")),
                    instructions=_text(result.get("instructions")),
                    protocol=_text(result.get("protocolVersion")),
                    name=_text(server.get("name")),
                    version=_text(server.get("version")),
                )
            return self._greeting

    def _listed(self, kind: str, over: Cancel, faults: list[str]) -> Iterator[Offer]:
        for method in _LISTS[kind]:
            try:
                yield from self._pages(method, over, faults)
            except ServerFailure as error:
                if kind == "tools" or error.kind in ("gone", "cancelled"):
                    raise
                faults.append(f"its {kind}: the list could not be fetched ({error.message})")

    def _pages(self, method: str, over: Cancel, faults: list[str]) -> Iterator[Offer]:
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(mcp.LIST_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            result = self._answer(method, params, over, self.entry.times.startup)
            page = read(method, result)
            faults += page.faults
            for offer in page.offers:
                name = str(getattr(offer, "uri", offer.name))
                if name in seen:
                    faults.append(f"a second definition of `{name[:80]}`")
                elif len(seen) < mcp.LIST_MOST:
                    seen.add(name)
                    yield offer
            after = result.get("nextCursor")
            if not isinstance(after, str) or not after or after == cursor:
                return
            cursor = after

    def _request(self, method: str, params: dict[str, Any], cancel: Cancel, limit: float) -> dict[str, Any]:
        if self.status.state != "connected":
            raise self._board.absence()
        return self._answer(method, params, cancel, limit)

    def _answer(self, method: str, params: dict[str, Any], cancel: Cancel, limit: float) -> dict[str, Any]:
        """The result of one request. The program's answer is data of a stranger: it may have any shape."""
        with self._lock:
            self._last_id += 1
            id = self._last_id
        message: dict[str, Any] = {"method": method}
        if params:
            message["params"] = params
        told = self._say({**message, "id": id}, cancel, limit)
        error = told.get("error")
        if isinstance(error, dict):
            raise ServerFailure(one_line(_text(error.get("message"))[:4_000]) or f"`{method}` failed.")
        result = told.get("result")
        if not isinstance(result, dict):
            raise ServerFailure(f"Its answer to `{method}` has no result.")
        return result

    def _say(self, message: dict[str, Any], cancel: Cancel, limit: float) -> Any:
        exchange = self._needs.exchange()
        if exchange is None:
            raise ServerFailure(_ABSENT, kind="gone")
        with _limited(cancel, limit) as limited:
            try:
                told = exchange(self.name, {"jsonrpc": "2.0", **message}, limited)
            except ServerFailure as error:
                if error.kind == "cancelled" and not cancel.cancelled:
                    what = message["method"]
                    raise ServerFailure(f"`{what}` took longer than {limit:g} s.", kind="timeout") from None
                raise
        return _map(told)


@contextlib.contextmanager
def _limited(cancel: Cancel, seconds: float) -> Iterator[Cancel]:
    """A Cancel that fires with another one, or when the time is over."""
    limited = Cancel(time.monotonic() + seconds)
    try:
        with cancel.on_cancel(limited.cancel):
            yield limited
    finally:
        limited.release()


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
