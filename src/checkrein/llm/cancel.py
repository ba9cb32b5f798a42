"""Stopping work from another thread, or at a deadline."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Literal

Why = Literal["interrupt", "deadline"]


class Cancel:
    """The off switch of a turn and of everything that it waits for. Any thread may call `cancel()`, more than
    once; it returns at once.

    Code that blocks registers a callback with `on_cancel` that ends the blocking (a socket shutdown, an event
    set). A callback that is added after `cancel()` runs at once.

    `deadline` (monotonic seconds) is the moment when it fires by itself, until `release`. `grace` are the
    seconds that a process has to end by itself after the cancel. `force` is the second, impatient cancel:
    nothing outlasts it, and processes die at once.
    """

    def __init__(self, deadline: float | None = None, grace: float = 0.6) -> None:
        self.deadline = deadline
        self.grace = grace
        self.why: Why | None = None
        self.at: float | None = None
        self.forced = False
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._last: list[Callable[[], None]] = []
        self._timer: threading.Timer | None = None
        if deadline is not None:
            left = min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)
            self._timer = threading.Timer(left, self.cancel, ("deadline",))
            self._timer.daemon = True
            self._timer.start()

    @property
    def cancelled(self) -> bool:
        return self.why is not None

    def cancel(self, why: Why = "interrupt") -> None:
        with self._lock:
            if self.why is None:
                self.at = time.monotonic()
                self.why = why
            callbacks, self._callbacks = self._callbacks, []
        _call(callbacks)

    def force(self) -> None:
        """Cancel, and leave no time to anything that would outlast it."""
        self.cancel()
        with self._lock:
            self.forced = True
            callbacks, self._last = self._last, []
        _call(callbacks)

    def release(self) -> None:
        """Forget the deadline: the work is over."""
        if self._timer is not None:
            self._timer.cancel()

    def within(self, seconds: float) -> float:
        """The seconds that a wait may take: no longer than until the deadline."""
        return seconds if self.deadline is None else max(0.0, min(seconds, self.deadline - time.monotonic()))

    @contextlib.contextmanager
    def on_cancel(
        self, callback: Callable[[], None], force: Callable[[], None] | None = None
    ) -> Iterator[None]:
        """Run `callback` at the cancel and `force` at the impatient one, while the block lasts."""
        with self._lock:
            late, lost = self.why is not None, self.forced
            if not late:
                self._callbacks.append(callback)
            if force is not None and not lost:
                self._last.append(force)
        if late:
            callback()
        if lost and force is not None:
            force()
        try:
            yield
        finally:
            with self._lock:
                with contextlib.suppress(ValueError):
                    self._callbacks.remove(callback)
                if force is not None:
                    with contextlib.suppress(ValueError):
                        self._last.remove(force)

    @contextlib.contextmanager
    def outlasted(self, seconds: float) -> Iterator[Cancel]:
        """Another Cancel, for work that may go on for a moment after this one. It fires so many seconds after
        this one did; what this one held up until then is lost."""
        later = Cancel(grace=min(self.grace, 0.2))
        timer: threading.Timer | None = None

        def fired() -> None:
            nonlocal timer
            left = (self.at or time.monotonic()) + seconds - time.monotonic()
            why = self.why or "interrupt"
            if left <= 0:
                later.cancel(why)
                return
            timer = threading.Timer(left, later.cancel, (why,))
            timer.daemon = True
            timer.start()

        try:
            with self.on_cancel(fired, later.force):
                yield later
        finally:
            if timer is not None:
                timer.cancel()

    @contextlib.contextmanager
    def branch(self, seconds: float | None = None) -> Iterator[Cancel]:
        """Another Cancel for a part of the work. It fires with this one, and by itself after `seconds`."""
        part = Cancel(None if seconds is None else time.monotonic() + seconds, self.grace)
        try:
            with self.on_cancel(lambda: part.cancel(self.why or "interrupt"), part.force):
                yield part
        finally:
            part.release()

    def wait(self, seconds: float) -> bool:
        """Sleep, or return True as soon as the request is cancelled."""
        fired = threading.Event()
        with self.on_cancel(fired.set):
            return fired.wait(seconds)


def _call(callbacks: list[Callable[[], None]]) -> None:
    """One that fails (its socket is gone by now) does not stop the others."""
    for callback in callbacks:
        with contextlib.suppress(Exception):
            callback()
