"""One thread does the work; another one watches the time.

The watcher never waits longer than the deadline and the grace: the work's thread is a daemon, and the guard
of the Spawner ends the children of a dead process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_PIECE = 0.1
_AGAIN = 0.05
"""An interrupt before the work listens is lost, so the watcher repeats it."""


class Ended(Generic[T]):
    """How a piece of work ended. `late`: its time limit passed or a signal (`stop`) came before it was done.
    `observed`: it still ended within the grace. `value` is what it returned."""

    def __init__(
        self,
        value: T | None = None,
        *,
        late: bool = False,
        observed: bool = True,
        stop: KeyboardInterrupt | None = None,
    ) -> None:
        self.value = value
        self.late = late
        self.observed = observed
        self.stop = stop


class _Piece(Generic[T]):
    def __init__(self, job: Callable[[], T]) -> None:
        self.job = job
        self.done = threading.Event()
        self.value: T | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.value = self.job()
        except BaseException as error:  # the thread that waits raises it
            self.error = error
        self.done.set()


class Worker:
    """Does pieces of work in order, all in the same thread."""

    def __init__(self) -> None:
        self._pieces: SimpleQueue[_Piece[Any]] = SimpleQueue()
        threading.Thread(target=self._work, name="checkrein-machine", daemon=True).start()

    def do(
        self, job: Callable[[], T], *, until: float | None, grace: float, interrupt: Callable[[], None]
    ) -> Ended[T]:
        """Do a piece of work. After `until` (monotonic seconds; None: never) the work is interrupted and gets
        the grace to end. Raises what the work raises, unless that comes too late."""
        piece = _Piece(job)
        self._pieces.put(piece)
        stop: KeyboardInterrupt | None = None
        try:
            done = _wait(piece.done, until)
        except KeyboardInterrupt as signal:
            stop, done = signal, False
        if done:
            if piece.error is not None:
                raise piece.error
            return Ended(piece.value)
        observed = _acknowledged(piece.done, grace, interrupt)
        return Ended(piece.value if observed else None, late=True, observed=observed, stop=stop)

    def _work(self) -> None:
        while True:
            self._pieces.get().run()


def _wait(done: threading.Event, until: float | None) -> bool:
    """Wait in short steps: a signal that goes to another thread does not end a wait."""
    while not done.wait(_PIECE if until is None else max(0.0, min(_PIECE, until - time.monotonic()))):
        if until is not None and time.monotonic() >= until:
            return done.is_set()
    return True


def _acknowledged(done: threading.Event, grace: float, interrupt: Callable[[], None]) -> bool:
    end = time.monotonic() + grace
    try:
        while (left := end - time.monotonic()) > 0:
            interrupt()
            if done.wait(min(_AGAIN, left)):
                return True
    except KeyboardInterrupt:
        pass  # a second signal means: do not wait
    return done.is_set()
