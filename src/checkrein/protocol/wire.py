"""JSON lines over standard input and output.

One thread reads, from the start of a session on, so that it sees a line that arrives during a turn at once.
Any thread writes; each line goes out whole and at once.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from checkrein.base.wellformed import encode

Frame = dict[str, Any]
_CHUNK = 1 << 16


class LineWriter:
    """Writes frames to a stream, by default standard output. Without a stream (it was closed before the
    start) it writes nothing. When the reader has left, each write raises BrokenPipeError."""

    def __init__(self, stream: BinaryIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stdout.buffer if sys.stdout is not None else None
        self._lock = threading.Lock()

    @property
    def descriptor(self) -> int | None:
        """The file descriptor of the stream, if it has one."""
        try:
            return None if self._stream is None else self._stream.fileno()
        except (OSError, ValueError):
            return None

    def write(self, frame: Frame) -> None:
        line = encode(frame) + b"\n"
        if self._stream is not None:
            with self._lock:
                self._stream.write(line)
                self._stream.flush()


class LineReader:
    """Hands each line of a stream, by default standard input, to `take` in a thread of its own, with its
    number; at the end None, even after an error. `take` returns False to end the reading. Reading begins
    with `start`."""

    def __init__(self, take: Callable[[int, bytes | None], bool], stream: BinaryIO | None = None) -> None:
        self._take = take
        self._stream = stream if stream is not None else sys.stdin.buffer if sys.stdin is not None else None
        self._woken, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._run, name="checkrein-reader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End the thread. It reads descriptors, not the stream's buffer, so it never holds a lock that the
        interpreter needs to end."""
        os.close(self._wake)
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)
        if not self._thread.is_alive():
            os.close(self._woken)

    def _run(self) -> None:
        wanted = True
        try:
            for number, line in enumerate(self._lines(), 1):
                wanted = not line.strip() or self._take(number, line)
                if not wanted:
                    return
        finally:
            if wanted:
                self._take(0, None)

    def _lines(self) -> Iterator[bytes]:
        if self._stream is None:
            return
        try:
            descriptor = self._stream.fileno()
        except (OSError, ValueError):
            yield from self._stream
            return
        begun: list[bytes] = []
        while chunk := self._chunk(descriptor):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                yield b"".join((*begun, line))
                begun.clear()
            begun.append(rest)
        yield b"".join(begun)

    def _chunk(self, descriptor: int) -> bytes:
        """The bytes that are ready; none at the end of the stream, or when the reader is closed."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        poll.register(descriptor, select.POLLIN)
        with contextlib.suppress(OSError):
            while True:
                ready = {one for one, _ in poll.poll()}
                if self._woken in ready:
                    return b""
                with contextlib.suppress(BlockingIOError):
                    return os.read(descriptor, _CHUNK)
        return b""
