"""One running child: its pipes, its end, and how to stop it. `spawn` starts it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from checkrein.runtime.process.around import Around
    from checkrein.runtime.process.capture import Capture
    from checkrein.runtime.process.command import Command
    from checkrein.runtime.process.guard.guard import Refusal

MARK = "CHECKREIN_SPAWN"
"""The variable that marks every process of a Spawner. An inner session extends the outer session's value."""

_OUTPUT_CEILING = 5 * 1024**3
_AFTER_EXIT = 0.25
_NO_PIDFD_TICK = 0.01


class NotStartedError(OSError):
    """The program or the directory does not exist, or can't be used."""


class Process(Protocol):
    """A started process: an ordinary one, or a ward of the guard.

    `descriptor` is readable when `notice` has something to do, -1 where the system has none and when there is
    no more to come. `notice` is True when the process is over; it raises NotStartedError when there never was
    one. `held` are seconds in which it waited for an
    answer of ours. `refusals` and `powerless` are what the guard has to tell."""

    @property
    def descriptor(self) -> int: ...

    @property
    def held(self) -> float: ...

    @property
    def refusals(self) -> Sequence[Refusal]: ...

    @property
    def powerless(self) -> Sequence[str]: ...

    def notice(self) -> bool: ...

    def wait(self) -> int: ...

    def poll(self) -> int | None: ...

    def signal(self, number: int) -> None: ...

    def close(self) -> None: ...


class Child:
    """Belongs to the thread that calls `step` (or to the drain). Any thread may use `stop` and the values.

    Nothing reaps the leader while its group may still need a kill, so a signal never hits another process.
    A descriptor of -1 is a pipe that somebody else handles, or none.
    """

    def __init__(
        self,
        process: Process,
        out: Capture,
        out_fd: int,
        err: Capture | None,
        err_fd: int,
        in_fd: int,
        stdin: bytes,
    ) -> None:
        self.out = out
        self.err = err
        self.exit_code: int | None = None
        self.stopping: float | None = None
        """When the grace of a stopped child ends."""
        self.deadline: float | None = None
        self.releasable: Command | None = None
        """The command, when the person may send it to the background."""
        self.let_go = False
        self.ended = threading.Event()
        self.watched: dict[int, int] = {}
        """Open descriptors and the poll events that matter on them."""
        self.wake: Callable[[], None] | None = None
        self.around: Around | None = None
        self._process = process
        self._lock = threading.Lock()
        self._exited = False
        self._last_moment = float("inf")
        self._pending = memoryview(stdin)
        self._captures: dict[int, Capture] = {}
        self._out_fd, self._in_fd = out_fd, in_fd
        for descriptor, capture in ((out_fd, out), (err_fd, err)):
            if capture is not None and descriptor >= 0:
                os.set_blocking(descriptor, False)
                self._captures[descriptor] = capture
                self.watched[descriptor] = select.POLLIN
        if in_fd >= 0:
            os.set_blocking(in_fd, False)
            self.watched[in_fd] = select.POLLOUT
        self._news = process.descriptor
        if self._news >= 0:
            self.watched[self._news] = select.POLLIN
        self._has_news = self._news >= 0
        self._poll = select.poll()
        for descriptor, mask in self.watched.items():
            self._poll.register(descriptor, mask)

    def step(self, timeout: float) -> bool:
        """Wait for an event, at most `timeout` seconds, and handle it; False when all is over.

        A child whose leader is gone is over at the end of its pipes or when they are quiet."""
        if not self._has_news:
            timeout = min(timeout, _NO_PIDFD_TICK)
        events = self._poll.poll(timeout * 1000)
        gone = self.exit_code is not None
        for descriptor, _ in events:
            for closed in self.ready(descriptor):
                self._poll.unregister(closed)
        self.tick(time.monotonic())
        if self.exit_code is None:
            return True
        quiet = gone and not events
        return self.has_open_pipes and not quiet and time.monotonic() < self._last_moment

    def ready(self, descriptor: int) -> tuple[int, ...]:
        """Read, write or notice the end. Returns a descriptor that needs no more watching."""
        capture = self._captures.get(descriptor)
        if capture is not None:
            if capture.pump(descriptor):
                if capture.size > _OUTPUT_CEILING and self.stopping is None:
                    self.stop(0.0)
                return ()
            del self._captures[descriptor]
        elif descriptor == self._in_fd:
            try:
                self._pending = self._pending[os.write(descriptor, self._pending) :]
            except BlockingIOError:
                return ()
            except OSError:
                self._pending = memoryview(b"")
            if self._pending:
                return ()
            self._in_fd = -1
        elif descriptor == self._news:
            self._exited |= self._process.notice()
            if self._process.descriptor >= 0:
                return ()
            self._news = -1
            del self.watched[descriptor]
            return (descriptor,)
        self.watched.pop(descriptor, None)
        os.close(descriptor)
        return (descriptor,)

    def tick(self, now: float) -> None:
        """Reap the leader when it is gone, and enforce the time limits."""
        if self.exit_code is not None:
            return
        if self.deadline is not None and now >= self.deadline + self.held and self.stopping is None:
            self.stop(1.0)
        if self.stopping is None:
            if self._exited or (not self._has_news and self._process.poll() is not None):
                self._reap(now)
        elif now >= self.stopping or (self._exited and not self.has_open_pipes):
            self._signal(signal.SIGKILL)
            self._reap(now)

    def stop(self, grace: float) -> None:
        """Ask the group to end, and kill it after `grace` seconds. Returns at once."""
        with self._lock:
            if self.exit_code is not None or self.stopping is not None:
                return
            self.stopping = time.monotonic() + grace
        self._signal(signal.SIGTERM)
        if self.wake is not None:
            self.wake()

    def kill_now(self) -> None:
        """Kill the group without grace. The owner of the child reaps it."""
        self.stopping = 0.0
        self._signal(signal.SIGKILL)
        if self.wake is not None:
            self.wake()

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """What the guard and the proxy have stopped so far."""
        more = self.around.unreachable if self.around is not None else ()
        return (*self._process.refusals, *more)

    @property
    def powerless(self) -> tuple[str, ...]:
        return tuple(self._process.powerless)

    @property
    def held(self) -> float:
        """Seconds that don't count: it waited for an answer of ours."""
        return self._process.held

    @property
    def has_open_pipes(self) -> bool:
        return bool(self._captures)

    def abandon(self) -> None:
        """Kill, reap and close: nothing handles this child any more."""
        self.kill_now()
        self._reap(time.monotonic())
        self.close()

    def close(self) -> None:
        for descriptor in list(self.watched):
            if descriptor != self._news:
                os.close(descriptor)
        self._process.close()
        self.watched.clear()
        self._captures.clear()
        self._news = self._in_fd = -1
        self.out.close()
        if self.around is not None:
            self.around.close()
        self.ended.set()

    def _signal(self, number: int) -> None:
        with self._lock, contextlib.suppress(OSError):
            if self.exit_code is None:
                self._process.signal(number)

    def _reap(self, now: float) -> None:
        status = self._process.wait()
        for descriptor, capture in self._captures.items():
            capture.pump_all(descriptor)
        with self._lock:
            self.exit_code = 128 - status if status < 0 else status
        self._last_moment = now + _AFTER_EXIT
        if self._in_fd >= 0:
            self._pending = memoryview(b"")
