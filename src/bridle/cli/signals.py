"""Ctrl-C once interrupts the turn, twice leaves; SIGTERM and SIGHUP end the run with its result."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from types import FrameType

    from bridle.runtime.control import Control

P = TypeVar("P")


class Signals:
    """`status` is the exit status that a signal asks for; `leaving` says that no further prompt is wanted."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._count = 0
        self._waits = False
        self.status: int | None = None
        self.leaving = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self.leaving = True
        self.status = 128 + number
        if self._waits or (self._count > 1 and number == signal.SIGINT):
            raise KeyboardInterrupt
        # Callbacks of the interrupt may take locks that the interrupted frame holds, so not in this frame.
        threading.Thread(target=self._control.interrupt, daemon=True).start()

    def awaited(self, prompts: Iterator[P]) -> Iterator[P]:
        """The prompts, until a signal: one that comes while the next prompt is awaited ends the waiting."""
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
def interrupting(control: Control) -> Iterator[Signals]:
    signals = Signals(control)
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
            signal.signal(number, handler)
