"""A stdio server as a transport: lines of JSON through the pipes of a process that the spawner started.

Only the loop's thread imports this module. Two threads stand between the pipes and the streams.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as Later
from types import TracebackType
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage

from checkrein.base.errors import CheckreinError
from checkrein.base.harmless import one_line
from checkrein.facts import mcp
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.event_loop import in_thread, to_the_end
from checkrein.runtime.mcp.wire_messages import messages
from checkrein.runtime.process.command import Command, Pipes

Open = Callable[[Command], Pipes]
"""`Spawner.open` in a session."""

_GRACE = 0.5
_BUFFERED = 64
_SAID = 400
_LAST_WORDS = 0.5
_TICK = 0.5


class Stdio:
    """`note` hears of lines that were skipped. `epitaph` says how the process ended."""

    def __init__(self, open_pipes: Open, command: Command, note: Callable[[str], object]) -> None:
        self._open = open_pipes
        self._command = command
        self._note = note
        self._closed = False
        self._failure = ""
        self._pipes: Pipes | None = None
        self._lines: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]] | None] = queue.SimpleQueue()

    async def __aenter__(self) -> tuple[Any, Any]:
        self._loop = asyncio.get_running_loop()
        self._pipes = pipes = await self._opened()
        self._into, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, self._outgoing = anyio.create_memory_object_stream[SessionMessage](_BUFFERED)
        self._pump = asyncio.ensure_future(self._forward())
        for work in (self._read, self._write):
            threading.Thread(target=work, args=(pipes,), name="checkrein-mcp-pipe", daemon=True).start()
        return read_stream, write_stream

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed = True
        self._pump.cancel()
        self._lines.put(None)
        with anyio.CancelScope(shield=True):
            try:
                await to_the_end(in_thread(self._close))
            finally:
                self._into.close()
                self._outgoing.close()

    @property
    def epitaph(self) -> str:
        """Why the connection is over: what went wrong, or the exit status and the last line of its standard
        error."""
        if self._pipes is None:
            return ""
        status = self._pipes.exit_code
        ended = "It closed its output" if status is None else f"It ended with status {status}"
        said = self.last_words
        return self._failure or (f"{ended}: {said}" if said else f"{ended}.")

    @property
    def last_words(self) -> str:
        """The last line of its standard error."""
        if self._pipes is None:
            return ""
        lines = self._pipes.stderr.decode("utf-8", "replace").strip().splitlines()
        return one_line(lines[-1].strip()[:_SAID]) if lines else ""

    async def _opened(self) -> Pipes:
        """Open in a thread: starting a program may take a moment. Cancelled meanwhile, it is closed."""
        try:
            return await to_the_end(in_thread(self._start))
        except asyncio.CancelledError:
            self._closed = True
            await to_the_end(in_thread(self._close))
            raise
        except CheckreinError as error:
            raise ServerFailure(f"{error} {error.hint or ''}".strip()) from error
        except OSError as error:
            raise ServerFailure(_no_start(self._command, error)) from error

    def _start(self) -> Pipes:
        self._pipes = pipes = self._open(self._command)
        if self._closed:
            pipes.close(0.0)
        return pipes

    def _close(self) -> None:
        if self._pipes is not None:
            self._pipes.close(_GRACE)

    def _read(self, pipes: Pipes) -> None:
        try:
            while not self._closed and (line := pipes.read_line()):
                if len(line) > mcp.MESSAGE_LIMIT:
                    raise OSError(f"It wrote a line of more than {mcp.MESSAGE_LIMIT >> 20} MB.")
                for message in self._messages(line):
                    self._deliver(self._into.send(SessionMessage(message)))
        except OSError as error:
            self._failure = str(error)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, CancelledError, RuntimeError):
            return  # nobody listens any more
        limit = time.monotonic() + _LAST_WORDS
        while not self._failure and pipes.exit_code is None and time.monotonic() < limit and not self._closed:
            time.sleep(0.01)
        with contextlib.suppress(RuntimeError):  # the loop is gone
            self._loop.call_soon_threadsafe(self._into.close)

    def _deliver(self, sending: Coroutine[Any, Any, None]) -> None:
        """Wait until the line is taken: a flood stays in the pipe."""
        try:
            future = asyncio.run_coroutine_threadsafe(sending, self._loop)
        except RuntimeError:
            sending.close()
            raise
        while True:
            try:
                return future.result(_TICK)
            except Later:
                if self._closed or self._loop.is_closed():
                    future.cancel()
                    raise RuntimeError("closed") from None

    def _messages(self, line: bytes) -> list[JSONRPCMessage]:
        text = line.strip()
        found = messages(text) if text else []
        if text and not found:
            said = one_line(text[:_SAID].decode("utf-8", "replace"))
            self._note(f"a line that is not MCP was skipped: {said}")
        return found

    async def _forward(self) -> None:
        with contextlib.suppress(anyio.ClosedResourceError):
            async for item in self._outgoing:
                line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                written: asyncio.Future[None] = self._loop.create_future()
                self._lines.put((line, written))
                await written

    def _write(self, pipes: Pipes) -> None:
        while (job := self._lines.get()) is not None:
            line, written = job
            try:
                pipes.write(line)
            except OSError:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._into.close)
                return
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_settle, written)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _no_start(command: Command, error: OSError) -> str:
    program = one_line(str(command.argv[0]))
    if isinstance(error, FileNotFoundError) and error.filename == command.cwd:
        return f"Its working directory {one_line(command.cwd)} does not exist."
    if isinstance(error, FileNotFoundError):
        return f"Its command `{program}` was not found. Install it, or correct `command`."
    return f"Its command `{program}` could not be started: {error.strerror or error}."
