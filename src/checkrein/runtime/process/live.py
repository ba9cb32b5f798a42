"""A process with live pipes: lines in, lines out, until it is closed or ends.

Any thread may use it. Writes are whole: those of two threads never mix. `close` wakes every waiting thread.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkrein.runtime.process.child import Child
from checkrein.runtime.process.command import GRACE, Command

if TYPE_CHECKING:
    from checkrein.runtime.process.guard.guard import Refusal

_CHUNK = 1 << 16


class _End:
    """Our end of one pipe. `close` first makes every waiting thread leave, so that no thread ever uses a
    descriptor that now belongs to another file."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.lock = threading.Lock()
        self.closed = False
        self._state = threading.Lock()
        self._woken, self._wake = os.pipe()

    def wait(self, events: int, deadline: float | None) -> bool:
        """Wait until the pipe is ready; False when this end was closed meanwhile. Hold `lock`."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        poll.register(self.descriptor, events)
        left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        ready = False if self.closed else poll.poll(left)
        if self.closed:
            return False
        if not ready:
            raise TimeoutError
        return True

    def close(self) -> None:
        with self._state:
            if self.closed:
                return
            self.closed = True
        os.close(self._wake)
        with self.lock:
            os.close(self.descriptor)
            os.close(self._woken)


class Live:
    """`Spawner.open` makes it. It ends with its session, and so does everything that it started."""

    def __init__(
        self, child: Child, command: Command, into: int, out: int, released: Callable[[Live], None]
    ) -> None:
        self.command = command
        self._child = child
        self._in, self._out = _End(into), _End(out)
        self._buffer = bytearray()
        self._released = released
        self._gone = threading.Event()
        self._closing = threading.Lock()

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._child.exit_code

    @property
    def stderr(self) -> bytes:
        """Its standard error: the beginning, and the end of what is too long to keep."""
        err = self._child.err
        return err.head + err.tail if err is not None else b""

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """The programs that the guard has stopped so far."""
        return self._child.refused

    def write(self, data: bytes) -> None:
        """Write all of `data`; waits while the process does not read. Raises BrokenPipeError when it is gone
        or closed."""
        rest = memoryview(data)
        with self._in.lock:
            while rest:
                if self._in.closed or not self._in.wait(select.POLLOUT, None):
                    raise BrokenPipeError(f"{self.command.purpose} was closed")
                try:
                    rest = rest[os.write(self._in.descriptor, rest[:_CHUNK]) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError as error:
                    raise BrokenPipeError(f"{self.command.purpose} no longer reads") from error

    def read_line(self, timeout: float | None = None) -> bytes:
        """The next line with its newline; b"" when there is no more. Raises TimeoutError after `timeout`
        seconds; what came until then is kept for the next call. A line that is too long is an OSError."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._out.lock:
            seen = 0
            while (at := self._buffer.find(b"\n", seen)) < 0:
                seen = len(self._buffer)
                if seen > self.command.longest_line:
                    longest = self.command.longest_line
                    raise OSError(f"{self.command.purpose} wrote a line of more than {longest} bytes")
                if self._out.closed or not self._out.wait(select.POLLIN, deadline):
                    return self._taken(seen)
                with contextlib.suppress(BlockingIOError):
                    chunk = os.read(self._out.descriptor, _CHUNK)
                    if not chunk:
                        return self._taken(seen)
                    self._buffer += chunk
            return self._taken(at + 1)

    def _taken(self, size: int) -> bytes:
        line = bytes(self._buffer[:size])
        del self._buffer[:size]
        return line

    def close(self, grace: float = GRACE) -> int | None:
        """End it: the end of its input, after `grace` seconds SIGTERM to its group, then SIGKILL. Returns its
        exit status. A second caller waits for the first."""
        with self._closing:
            if not self._gone.is_set():
                self._in.close()
                if not self._child.ended.wait(grace):
                    self._child.stop(GRACE)
                    if not self._child.ended.wait(2 * GRACE):
                        self._child.kill_now()
                        self._child.ended.wait(GRACE)
                self.release()
        return self.exit_code

    def release(self) -> None:
        """Close the pipes. The process is over, or somebody else ends it."""
        self._in.close()
        self._out.close()
        self._gone.set()
        self._released(self)

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
