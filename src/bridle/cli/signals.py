"""Ctrl-C once interrupts the turn, twice leaves; SIGTERM ends the run with its result."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from bridle.runtime.control import Control


class Signals:
    """`status` is the exit status that a signal asks for; `leaving` says that no further prompt is wanted."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._count = 0
        self.status: int | None = None
        self.leaving = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self.leaving = True
        self.status = 128 + number
        if self._count > 1 and number == signal.SIGINT:
            raise KeyboardInterrupt
        # Callbacks of the interrupt may take locks that the interrupted frame holds, so not in this frame.
        threading.Thread(target=self._control.interrupt, daemon=True).start()


@contextmanager
def interrupting(control: Control) -> Iterator[Signals]:
    signals = Signals(control)
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    old = {number: signal.signal(number, signals.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
