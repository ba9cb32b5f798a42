"""A talk with a connected server: requests to it, and its questions to us.

Only the loop's thread imports this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import pathlib
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import mcp_types as types
from mcp.client import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from checkrein import __version__
from checkrein.base.harmless import harmless
from checkrein.facts import mcp
from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import CallResult, Progress, PromptMessage, ServerFailure
from checkrein.runtime.mcp.event_loop import in_thread
from checkrein.runtime.mcp.inventory import PROMPTS, RESOURCES, TOOLS

if TYPE_CHECKING:
    from mcp.client import Transport

    from checkrein.runtime.mcp.entry import Entry
    from checkrein.runtime.mcp.needs import Ask, Needs

T = TypeVar("T")

_LOGGED = 4_000
_KINDS: dict[type[Any], str] = {
    types.ToolListChangedNotification: TOOLS,
    types.PromptListChangedNotification: PROMPTS,
    types.ResourceListChangedNotification: RESOURCES,
}
_RELAYED = (types.LoggingMessageNotification, types.ResourceUpdatedNotification)


class Dialogue:
    """`stale` hears which list the server has changed."""

    def __init__(
        self, entry: Entry, needs: Needs, transport: Transport, mode: str, stale: Callable[[str], object]
    ) -> None:
        self._entry = entry
        self._needs = needs
        self._stale = stale
        self._patience: set[Patience] = set()
        self._questions = 0
        self._asked_already = 0
        self._relay = relay = needs.relay()
        self._sample = relay.sample if relay is not None and relay.can_sample else needs.sample
        self.client = Client(
            transport,
            mode=mode,
            cache=None,
            client_info=types.Implementation(name="checkrein", title="Checkrein", version=__version__),
            list_roots_callback=self._roots,
            logging_callback=self._logged,
            log_level="info",
            message_handler=self._heard,
            elicitation_callback=self._elicited if needs.elicit else None,
            sampling_callback=self._sampled if self._sample else None,
        )

    @property
    def is_modern(self) -> bool:
        return self.client.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def call_tool(
        self, tool: str, input: dict[str, Any], hears: Progress | None, call: str = ""
    ) -> CallResult:
        meta: Any = {mcp.CALL_ID: call} if call else None
        with self._patiently() as patience:

            async def moved(progress: float, total: float | None, message: str | None) -> None:
                patience.touch()
                if hears is not None:
                    with contextlib.suppress(Exception):
                        hears(progress, total, message)

            result = await self.client.call_tool(tool, input, progress_callback=moved, meta=meta)
        return CallResult(
            content=tuple(_wire(block) for block in result.content),
            structured=result.structured_content,
            is_error=result.is_error,
            meta=dict(result.meta or {}),
        )

    async def read_resource(self, uri: str) -> tuple[dict[str, Any], ...]:
        with self._patiently():
            result = await self.client.read_resource(uri)
        return tuple(_wire(content) for content in result.contents)

    async def get_prompt(self, prompt: str, arguments: dict[str, str]) -> tuple[PromptMessage, ...]:
        with self._patiently():
            result = await self.client.get_prompt(prompt, arguments)
        return tuple(PromptMessage(role=one.role, content=_wire(one.content)) for one in result.messages)

    async def other(self, ask: Callable[[Client], Awaitable[T]]) -> T:
        """Any other request. It ends like these when the server is silent."""
        with self._patiently():
            return await ask(self.client)

    async def roots_changed(self) -> None:
        """Servers of the newest protocol hear of roots only when they ask."""
        if not self.is_modern:
            await self.client.session.send_notification(types.RootsListChangedNotification())

    async def listen(self) -> None:
        """Keep the stream of changes open that the newest protocol has instead of notifications."""
        declared = self.client.server_capabilities
        wanted: dict[str, Any] = {
            f"{kind}_list_changed": bool(getattr(getattr(declared, kind), "list_changed", False))
            for kind in (TOOLS, PROMPTS, RESOURCES)
        }
        if not self.is_modern or not any(wanted.values()):
            return
        short, opened = 0, [0.0]
        while True:
            began = time.monotonic()
            with contextlib.suppress(MCPError, SubscriptionLost, TimeoutError):
                async with self.client.listen(**wanted) as changes:
                    if opened != [0.0]:
                        for kind in (TOOLS, PROMPTS, RESOURCES):  # what changed meanwhile, nobody told us
                            self._stale(kind)
                    async for _ in changes:
                        pass  # each change also arrives as a notification
            now = time.monotonic()
            short = short + 1 if now - began < mcp.LISTEN_SHORT_SECONDS else 0
            opened = [moment for moment in opened if moment and now - moment < 3600] + [began]
            if short > mcp.LISTEN_SHORT_MOST or len(opened) > mcp.LISTEN_HOURLY_MOST:
                await asyncio.sleep(mcp.LISTEN_PAUSE_SECONDS)
                short, opened = 0, [began]
            await asyncio.sleep(1.0)

    @contextlib.contextmanager
    def _patiently(self) -> Iterator[Patience]:
        """Ends a request without an answer or progress. Time in which the server waits for us is free."""
        if not self._patience:
            self._asked_already = 0
        patience = Patience(self._entry.times.idle, lambda: self._questions > 0)
        self._patience.add(patience)
        try:
            with patience.scope:
                yield patience
        finally:
            self._patience.discard(patience)
        if patience.scope.cancelled_caught:
            name, idle = self._entry.name, self._entry.times.idle or 0
            raise ServerFailure(
                f"The server `{name}` gave neither an answer nor progress for {idle:g} s.", kind="timeout"
            )

    async def _heard(self, message: Any) -> None:
        kind = _KINDS.get(type(message))
        if kind is not None:
            self._stale(kind)
        elif self._relay is not None and isinstance(message, _RELAYED):
            said = _wire(message)
            with contextlib.suppress(Exception):
                self._relay.heard(self._entry.name, said["method"], said.get("params") or {})

    async def _logged(self, params: types.LoggingMessageNotificationParams) -> None:
        said = params.data if isinstance(params.data, str) else json.dumps(params.data, default=str)
        with contextlib.suppress(Exception):
            self._needs.logged(self._entry.name, params.level, harmless(said[:_LOGGED]))

    async def _roots(self, context: Any) -> types.ListRootsResult:
        uris = [pathlib.Path(path).absolute().as_uri() for path in self._needs.roots()]
        return types.ListRootsResult.model_validate({"roots": [{"uri": uri} for uri in uris]})

    async def _elicited(
        self, context: Any, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        answer = await self._asked(self._needs.elicit, params)
        return types.ElicitResult.model_validate(answer) if isinstance(answer, dict) else answer

    async def _sampled(
        self, context: Any, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        answer = await self._asked(self._sample, params)
        return types.CreateMessageResult.model_validate(answer) if isinstance(answer, dict) else answer

    async def _asked(self, ask: Ask | None, params: Any) -> dict[str, Any] | types.ErrorData:
        if ask is None:
            return types.ErrorData(code=types.INVALID_REQUEST, message="Nobody can answer this request.")
        self._asked_already += 1
        if self._asked_already > mcp.QUESTIONS_MOST:
            return types.ErrorData(code=types.INVALID_REQUEST, message="The server asks too much.")
        cancel = Cancel()
        self._questions += 1
        self._touch()
        try:
            return await in_thread(lambda: ask(self._entry.name, _wire(params), cancel))
        except ServerFailure as refused:
            return types.ErrorData(code=types.INVALID_REQUEST, message=refused.message)
        except Exception:
            return types.ErrorData(code=types.INTERNAL_ERROR, message="The question could not be answered.")
        finally:
            cancel.cancel()
            self._questions -= 1
            self._touch()

    def _touch(self) -> None:
        for patience in self._patience:
            patience.touch()


class Patience:
    """A scope that ends after `idle` seconds without `touch`; never while `waived` holds."""

    def __init__(self, idle: float | None, waived: Callable[[], bool]) -> None:
        self._idle = idle
        self._waived = waived
        self.scope = anyio.CancelScope()
        self.touch()

    def touch(self) -> None:
        free = self._idle is None or self._waived()
        self.scope.deadline = math.inf if free else anyio.current_time() + (self._idle or 0)


Request = Callable[[Dialogue], Awaitable[T]]


def _wire(value: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped
