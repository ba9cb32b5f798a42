"""Ctrl-C once interrupts the turn, twice ends the run; SIGTERM and SIGHUP end the run with its result."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from types import FrameType

    from checkrein.runtime.session.control import Control

P = TypeVar("P")
_PATIENCE = 1.0
"""Seconds that an interrupted turn has to end by itself before a second Ctrl-C cuts it off."""


class Signals:
    """`status` is the exit status that a signal sets; with `leaving` the run takes no further prompt."""

    def __init__(self) -> None:
        self._control: Control | None = None
        self._first: float | None = None
        self._waits = False
        self.status: int | None = None
        self.leaving = False

    def attach(self, control: Control) -> None:
        self._control = control

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self._control is None:
            signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
            os.kill(os.getpid(), number)
            return
        self.leaving = True
        self.status = self.status or 128 + number
        late = self._first is not None and time.monotonic() - self._first > _PATIENCE
        self._first = self._first or time.monotonic()
        if self._waits or (late and number == signal.SIGINT):
            raise KeyboardInterrupt
        # Callbacks of the interrupt may take locks that the interrupted frame holds, so not in this frame.
        threading.Thread(target=self._control.interrupt, daemon=True).start()

    def awaited(self, prompts: Iterator[P]) -> Iterator[P]:
        """The prompts, until a signal. A signal during the wait for the next prompt ends the wait."""
        while not self.leaving:
            self._waits = True
            try:
                prompt = next(prompts, None)
            except KeyboardInterrupt:
                return
            finally:
                self._waits = False
            if prompt is None or self.leaving:
                return
            yield prompt


@contextmanager
def interrupting() -> Iterator[Signals]:
    """Until a control is attached, signals do what they always do. After a signal that ended the run, the
    process ignores others: it is about to exit, and its status must not change."""
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    wanted = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        wanted.append(signal.SIGHUP)
    old = {number: signal.signal(number, signals.handle) for number in wanted}
    try:
        yield signals
    finally:
        for number, handler in old.items():
            signal.signal(number, handler if signals.status is None else signal.SIG_IGN)
