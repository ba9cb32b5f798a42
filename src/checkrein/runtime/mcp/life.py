"""The life of a connection: connect, stay, connect again, end.

Only the loop's thread imports this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION
from msgspec import Struct

from checkrein.facts import mcp
from checkrein.runtime.mcp.connection import Catalog, ServerFailure
from checkrein.runtime.mcp.dialogue import Dialogue, Request
from checkrein.runtime.mcp.faults import Fault, failure, fault_of, first, is_closed, is_terminated
from checkrein.runtime.mcp.inventory import PROMPTS, RESOURCES, TOOLS, fetch
from checkrein.runtime.mcp.sieve import Sieve
from checkrein.runtime.process.command import Command

if TYPE_CHECKING:
    from checkrein.runtime.mcp.board import Board
    from checkrein.runtime.mcp.entry import Entry
    from checkrein.runtime.mcp.needs import Needs

T = TypeVar("T")

_KINDS = (TOOLS, PROMPTS, RESOURCES)
_TOO_OLD = (UNSUPPORTED_PROTOCOL_VERSION, METHOD_NOT_FOUND)
_STEADY = 10.0
"""A connection that lasted so many seconds has all its tries again."""
_TOGETHER = 0.1
"""Changes of lists within these seconds are fetched together. A server that never stops waits longer each
time, up to `_LONGEST`; after a silence that long it is fast again."""
_LONGEST = 5.0

for _name in ("mcp", "client", "httpx2", "httpcore2"):
    logging.getLogger(_name).addHandler(logging.NullHandler())  # nothing of a server goes to the terminal raw


class Ending(Struct, frozen=True):
    """How one connection ended. `lasted` are seconds since it was made, None when it never was."""

    text: str
    again: bool = False
    refused: bool = False
    at_once: bool = False
    lasted: float | None = None


class Life:
    """`gate` limits how many servers connect at once."""

    def __init__(self, entry: Entry, needs: Needs, board: Board, gate: asyncio.Semaphore) -> None:
        self._entry = entry
        self._needs = needs
        self._board = board
        self._gate = gate
        self.dialogue: Dialogue | None = None
        self._over = asyncio.Event()
        self._left = asyncio.Event()
        self._fault: Fault | None = None
        self._terminated = False
        self._stale: set[str] = set()
        self._changed = asyncio.Event()
        self._settled = asyncio.Event()
        self._transport: Any = None

    async def run(self) -> None:
        """Returns when the connection is over for good."""
        delays = list(self._needs.delays.connect)
        connected = False
        while not self._closing:
            ending = await self._once()
            if self._closing:
                break
            if ending.lasted is not None and (not connected or ending.lasted >= _STEADY):
                delays, connected = list(self._needs.delays.reconnect), True
            if not (ending.again and delays and self._entry.is_remote):
                self._board.state("needs-auth" if ending.refused else "failed", ending.text)
                break
            self._board.state("pending", f"Connecting again. {ending.text}")
            delay = delays.pop(0)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), 0.0 if ending.at_once else delay)
        self._settled.set()

    def close(self) -> bool:
        """Whether it ends by itself now. One that is about to connect has to be cancelled."""
        self._left.set()
        self._over.set()
        return self.dialogue is not None

    @property
    def _closing(self) -> bool:
        return self._left.is_set()

    async def request(self, request: Request[T]) -> T:
        """Raises ServerFailure. A request that a forgotten session refused is made once more in a new one."""
        dialogue = self.dialogue
        try:
            return await self._requested(request)
        except Exception as error:
            if not is_terminated(error):
                raise self._failure(error) from error
        if self.dialogue is dialogue:
            self._settled.clear()
            self._terminated = True
            self._over.set()
        await self._settled.wait()
        try:
            return await self._requested(request)
        except Exception as error:
            raise self._failure(error) from error

    async def _requested(self, request: Request[T]) -> T:
        if self.dialogue is None:
            raise self._board.absence()
        answer = await request(self.dialogue)
        self._board.is_welcome(True)
        return answer

    def _failure(self, error: Exception) -> ServerFailure:
        hint = mcp.RETRYING_HINT if self._entry.is_remote else mcp.ENDED_HINT
        failed = failure(self._entry, error, f"{self._epitaph or 'The connection was closed.'} {hint}")
        if failed.kind == "needs_auth" and self.dialogue is not None:
            self._board.is_welcome(False, failed.message)
        return failed

    @property
    def _epitaph(self) -> str:
        return self._fault.text if self._fault else getattr(self._transport, "epitaph", "")

    async def _once(self) -> Ending:
        self._over.clear()
        self._fault, self._terminated = None, False
        began = time.monotonic()
        made: float | None = None
        try:
            async with AsyncExitStack() as stack:
                async with self._gate, asyncio.timeout(self._entry.times.startup):
                    if self._closing:
                        return Ending("")
                    began = time.monotonic()
                    await self._connect(stack)
                made = time.monotonic()
                self._board.state("connected", None, int((made - began) * 1000))
                self._settled.set()
                await self._stay(stack)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            lasted = None if made is None else time.monotonic() - made
            return self._ending(error, lasted)
        finally:
            self.dialogue = None
        if self._closing:
            return Ending("")
        text = self._epitaph or "The connection was closed."
        return Ending(text, True, False, self._terminated, time.monotonic() - (made or began))

    async def _connect(self, stack: AsyncExitStack) -> None:
        """Stdio servers shake hands first: an old one may never answer a question that it does not know. So
        do those behind a gateway."""
        mode = "auto" if self._entry.transport == "http" and self._needs.relay() is None else "legacy"
        try:
            dialogue, sieve = await self._enter(stack, mode)
        except Exception as error:
            told = first(error)
            if mode == "auto" or not (isinstance(told, MCPError) and told.code in _TOO_OLD):
                raise
            dialogue, sieve = await self._enter(stack, "auto")
        self._stale = set()
        lists = await fetch(dialogue.client, sieve, self._needs.delays.listing, _KINDS, strict=True)
        about = dialogue.client.server_info
        self._board.listed(
            Catalog(
                **lists.offers,  # type: ignore[arg-type]
                instructions=(dialogue.client.instructions or "")[: mcp.INSTRUCTIONS_LIMIT],
                server_name=about.name[: mcp.NAME_LIMIT] if about else "",
                server_version=about.version[: mcp.NAME_LIMIT] if about else "",
                protocol=dialogue.client.protocol_version,
            ),
            lists.faults,
        )
        self.dialogue, self._sieve = dialogue, sieve

    async def _enter(self, stack: AsyncExitStack, mode: str) -> tuple[Dialogue, Sieve]:
        self._transport = await self._new_transport()
        sieve = Sieve(self._transport, self._over.set, self._board.note)
        dialogue = Dialogue(self._entry, self._needs, sieve, mode, self._went_stale)
        await stack.enter_async_context(dialogue.client)
        return dialogue, sieve

    async def _new_transport(self) -> Any:
        entry, needs = self._entry, self._needs
        own = needs.transport(entry) if needs.transport is not None else None
        if own is not None:
            return own
        if entry.is_remote:
            from checkrein.runtime.mcp.remote import Credentials, Endpoint, Renewed, remote

            credentials = Credentials(entry, needs.runs)
            given = await credentials.renew()
            self._board.found(given.finding)
            auth = None
            if not given.has_authorization and needs.auth is not None:
                auth = needs.auth(entry)
            if auth is None and entry.headers_helper:
                auth = Renewed(credentials)
            self._board.signs = given.has_authorization
            return remote(entry, Endpoint(entry, credentials, auth, self._lost))
        from checkrein.runtime.mcp.stdio import Stdio

        if needs.open is None:
            raise ServerFailure(f"Nothing can start a server of the transport `{entry.transport}` here.")
        command = Command(
            argv=entry.argv,
            cwd=entry.cwd,
            origin=entry.origin,
            purpose=f"the MCP server {entry.name}",
            env=entry.env,
            limit=1 << 14,
            longest_line=mcp.MESSAGE_LIMIT,
        )
        return Stdio(needs.open, needs.bind(command), self._board.note)

    async def _stay(self, stack: AsyncExitStack) -> None:
        """Until the end: fetch lists that have changed."""
        assert self.dialogue is not None
        for work in (self._refresh(self.dialogue, self._sieve), self.dialogue.listen()):
            task = asyncio.ensure_future(work)
            stack.callback(task.cancel)
        await self._over.wait()

    async def _refresh(self, dialogue: Dialogue, sieve: Sieve) -> None:
        pause, fetched = _TOGETHER, -_LONGEST
        while True:
            await self._changed.wait()
            again = time.monotonic() - fetched < max(pause, _TOGETHER * 2)
            pause = min(pause * 2, _LONGEST) if again else _TOGETHER
            await asyncio.sleep(pause)
            self._changed.clear()
            kinds = tuple(kind for kind in _KINDS if kind in self._stale)
            self._stale.clear()
            try:
                async with asyncio.timeout(self._entry.times.startup):
                    lists = await fetch(dialogue.client, sieve, self._needs.delays.listing, kinds)
            except Exception as error:
                self._board.note(f"its lists could not be fetched again: {first(error)}")
                continue
            finally:
                fetched = time.monotonic()
            self._board.relisted(lists.offers, lists.faults)

    def _went_stale(self, kind: str) -> None:
        self._stale.add(kind)
        self._changed.set()

    def _lost(self, fault: Fault) -> None:
        """An SSE server's answer comes on another stream: a request that can't be sent never gets one. A
        server that accepts no connection has to be found again."""
        if self._entry.transport == "sse" or (fault.down and self.dialogue is not None):
            self._fault = fault
            self._settled.clear()
            self._over.set()

    def _ending(self, error: Exception, lasted: float | None) -> Ending:
        fault = fault_of(error) or (self._fault if is_closed(error) else None)
        if fault is not None and fault.refused:
            return Ending(self._refusal(fault), refused=not self._board.signs, lasted=lasted)
        if fault is not None:
            return Ending(fault.text, again=fault.transient, lasted=lasted)
        if isinstance(first(error), TimeoutError):
            limit = f"It did not get ready within {self._entry.times.startup:g} s."
            said = getattr(self._transport, "last_words", "")
            return Ending(f"{limit} Its last words: {said}" if said else limit, lasted=lasted)
        if is_closed(error):
            return Ending(self._epitaph or "It closed the connection.", again=True, lasted=lasted)
        text = first(error)
        if isinstance(text, ServerFailure):
            return Ending(text.message, lasted=lasted)
        return Ending(failure(self._entry, error).message, again=lasted is not None, lasted=lasted)

    def _refusal(self, fault: Fault) -> str:
        if self._board.signs:
            return f"It refuses the configured `Authorization` header. {fault.text}"
        return f"It asks for a login. {fault.text} {mcp.LOGIN_HINT.format(words=self._entry.named)}"
