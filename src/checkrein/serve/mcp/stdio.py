"""One client on standard input and output, until it closes its side or a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
import threading
from concurrent.futures import Future
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_loop
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

_WAITING = 64
"""Messages that are read before they are answered."""
_LONGEST = 16 << 20
_GRACE = 2.0

Message = SessionMessage | Exception


async def serve_stdio(server: Server[Any], inbound: int = 0, outbound: int = 1) -> None:
    """`inbound` and `outbound` are descriptors. What else would go to standard output goes to the error
    stream, so that nothing breaks into the protocol."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(ValueError, RuntimeError):  # only the main thread hears signals
            loop.add_signal_handler(number, ended.set)
    own = os.dup(outbound)
    if outbound == 1:
        os.dup2(2, 1)
    reads, read = anyio.create_memory_object_stream[Message](_WAITING)
    written, writes = anyio.create_memory_object_stream[SessionMessage](_WAITING)
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    writer = threading.Thread(target=_write, args=(own, lines, lambda: _told(loop, ended)), daemon=True)
    writer.start()
    threading.Thread(target=_read, args=(inbound, reads, loop), daemon=True).start()

    async def talk() -> None:
        await serve_loop(server, read, written, lifespan_state={})
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(_pass_on, writes, lines)
        group.start_soon(talk)
        await ended.wait()
        group.cancel_scope.cancel()
    lines.put(None)
    writer.join(_GRACE)
    if not writer.is_alive():
        os.close(own)


async def _pass_on(
    writes: MemoryObjectReceiveStream[SessionMessage], lines: queue.SimpleQueue[bytes | None]
) -> None:
    async for message in writes:
        lines.put(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")


def _write(out: int, lines: queue.SimpleQueue[bytes | None], broken: Any) -> None:
    while (line := lines.get()) is not None:
        try:
            while line:
                line = line[os.write(out, line) :]
        except OSError:  # nobody reads any more
            broken()
            return


def _told(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended by itself
        loop.call_soon_threadsafe(ended.set)


def _read(inbound: int, reads: MemoryObjectSendStream[Message], loop: asyncio.AbstractEventLoop) -> None:
    """In a thread of its own, which nobody waits for: a read can't be interrupted."""
    rest = b""
    try:
        while data := os.read(inbound, 1 << 16):
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                if line.strip():
                    _sent(reads, loop, _parsed(line))
            if len(rest) > _LONGEST:
                break
    except (OSError, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass
    finally:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(reads.close)


def _sent(reads: MemoryObjectSendStream[Message], loop: asyncio.AbstractEventLoop, message: Message) -> None:
    """Wait until there is room: a client that floods waits for its own answers."""
    done: Future[None] = asyncio.run_coroutine_threadsafe(reads.send(message), loop)
    done.result()


def _parsed(line: bytes) -> Message:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except Exception as error:  # the server answers that it can't read it
        return error
