"""Stopping a stream from another thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


class Cancel:
    """One request's off switch. Any thread may call `cancel()`, more than once; it returns at once.

    Code that blocks registers a callback with `on_cancel` that ends the blocking (a socket shutdown, an event
    set). A callback that is added after `cancel()` runs at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._flag = False

    @property
    def cancelled(self) -> bool:
        return self._flag

    def cancel(self) -> None:
        with self._lock:
            self._flag = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    @contextlib.contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            late = self._flag
            if not late:
                self._callbacks.append(callback)
        if late:
            callback()
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._callbacks.remove(callback)

    @contextlib.contextmanager
    def outlasted(self, seconds: float) -> Iterator[Cancel]:
        """Another Cancel, for work that may go on for a while after this one. It fires so many seconds after
        this one did, or after the start of the work when this one has fired before."""
        later = Cancel()
        timer = threading.Timer(seconds, later.cancel)
        timer.daemon = True
        try:
            with self.on_cancel(timer.start):
                yield later
        finally:
            timer.cancel()

    def wait(self, seconds: float) -> bool:
        """Sleep, or return True as soon as the request is cancelled."""
        fired = threading.Event()
        with self.on_cancel(fired.set):
            return fired.wait(seconds)
