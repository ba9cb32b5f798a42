"""One running child: its pipes, its end, and how to stop it. `spawn` starts it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

    from checkrein.runtime.process.around import Around
    from checkrein.runtime.process.capture import Capture

MARK = "CHECKREIN_SPAWN"
"""The variable that marks every process of a Spawner. An inner session extends the outer session's value."""

_OUTPUT_CEILING = 5 * 1024**3
_AFTER_EXIT = 0.25
_NO_PIDFD_TICK = 0.01


class Child:
    """Belongs to the thread that calls `step` (or to the drain). Any thread may use `stop` and the values.

    Nothing reaps the leader while its group may still need a kill, so a signal never hits another process.
    A descriptor of -1 is a pipe that somebody else handles, or none.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        out: Capture,
        out_fd: int,
        err: Capture | None,
        err_fd: int,
        in_fd: int,
        stdin: bytes,
    ) -> None:
        self.pid = process.pid
        self.out = out
        self.err = err
        self.exit_code: int | None = None
        self.stopping: float | None = None
        """When the grace of a stopped child ends."""
        self.deadline: float | None = None
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
        self._pidfd = -1
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(self.pid)
                self.watched[self._pidfd] = select.POLLIN
        self._has_pidfd = self._pidfd >= 0
        self._poll = select.poll()
        for descriptor, mask in self.watched.items():
            self._poll.register(descriptor, mask)

    def step(self, timeout: float) -> bool:
        """Wait for an event, at most `timeout` seconds, and handle it; False when all is over.

        A child whose leader is gone is over at the end of its pipes or when they are quiet."""
        if not self._has_pidfd:
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
        elif descriptor == self._pidfd:
            self._exited = True
            self._pidfd = -1
        self.watched.pop(descriptor, None)
        os.close(descriptor)
        return (descriptor,)

    def tick(self, now: float) -> None:
        """Reap the leader when it is gone, and enforce the time limits."""
        if self.exit_code is not None:
            return
        if self.deadline is not None and now >= self.deadline and self.stopping is None:
            self.stop(1.0)
        if self.stopping is None:
            if self._exited or (not self._has_pidfd and self._process.poll() is not None):
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
    def has_open_pipes(self) -> bool:
        return bool(self._captures)

    def abandon(self) -> None:
        """Kill, reap and close: nothing handles this child any more."""
        self.kill_now()
        self._reap(time.monotonic())
        self.close()

    def close(self) -> None:
        for descriptor in list(self.watched):
            os.close(descriptor)
        self.watched.clear()
        self._captures.clear()
        self._pidfd = self._in_fd = -1
        self.out.close()
        around, self.around = self.around, None
        if around is not None:
            around.close()
        self.ended.set()

    def _signal(self, number: int) -> None:
        with self._lock, contextlib.suppress(OSError):
            if self.exit_code is None:
                os.killpg(self.pid, number)

    def _reap(self, now: float) -> None:
        status = self._process.wait()
        for descriptor, capture in self._captures.items():
            capture.pump_all(descriptor)
        with self._lock:
            self.exit_code = 128 - status if status < 0 else status
        self._last_moment = now + _AFTER_EXIT
        if self._in_fd >= 0:
            self._pending = memoryview(b"")


def find_marked(mark: str) -> list[int]:
    """Processes of this machine, other than this one, whose environment carries the mark."""
    wanted = mark.encode()
    own = os.getpid()
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if not name.isdecimal() or int(name) == own:
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if wanted in file.read():
                    found.append(int(name))
        except OSError:
            continue
    return found


def signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def guard_script(mark: str) -> str:
    """For sh: wait until the parent is gone (its end of our input closes), then end what carries the mark."""
    end = (
        f"for f in $(grep -lsF -e {mark} /proc/[0-9]*/environ); do "
        'p=${f#/proc/}; kill -s "$s" "${p%/environ}" 2>/dev/null; done'
    )
    return f"read -r _; s=TERM; {end}; sleep 1; s=KILL; {end}; {end}"
