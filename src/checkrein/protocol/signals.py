"""One signal ends the run with its result, a second one ends it at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from types import FrameType

    from checkrein.protocol.last_words import LastWords

P = TypeVar("P")
_TWICE = 0.1
"""Two signals closer than so many seconds are one: a terminal and a parent often send the same."""


class Stopped(BaseException):
    """A signal came before the session was there."""

    def __init__(self, number: int) -> None:
        super().__init__(f"Ended by {signal.Signals(number).name} before the session began.")
        self.status = 128 + number


class Signals:
    """`status` is the exit status that a signal sets; with `leaving` the run takes no further prompt."""

    def __init__(self) -> None:
        self._last: LastWords | None = None
        self._first: float | None = None
        self._waits = False
        self.status: int | None = None
        self.leaving = False

    def attach(self, last: LastWords) -> None:
        self._last = last

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Until a session is attached, a signal raises `Stopped`."""
        if self._last is None:
            raise Stopped(number)
        self.leaving = True
        self.status = self.status or 128 + number
        again = self._first is not None and time.monotonic() - self._first > _TWICE
        self._first = self._first or time.monotonic()
        # Callbacks of the stop may take locks that the interrupted frame holds, so not in this frame.
        threading.Thread(target=self._last.stop, args=(self.status, again), daemon=True).start()
        if self._waits:
            raise KeyboardInterrupt

    def awaited(self, prompts: Iterator[P]) -> Iterator[P]:
        """The prompts, until a signal. A signal during the wait for the next prompt ends the wait."""
        while not self.leaving:
            try:
                self._waits = True
                prompt = next(prompts, None)
                self._waits = False
            except KeyboardInterrupt:
                return
            finally:
                self._waits = False
            if prompt is None or self.leaving:
                return
            yield prompt


_now: Signals | None = None
"""The signals of the process, once a front end has caught them."""


def catch() -> Signals:
    """Take the signals of this process, for good: for a program that does nothing else. Call `ignore` when
    its status is fixed."""
    global _now
    _now = Signals()
    for number in _wanted():
        signal.signal(number, _now.handle)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    return _now


def ignore() -> None:
    """The process is about to exit, and its status must not change."""
    for number in _wanted():
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def interrupting() -> Iterator[Signals]:
    """The signals for one run. Other handlers come back after it."""
    if _now is not None:
        yield _now
        return
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    old = {number: signal.signal(number, signals.handle) for number in _wanted()}
    try:
        yield signals
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _wanted() -> list[int]:
    wanted: list[int] = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        wanted.append(signal.SIGHUP)
    return wanted
