"""SIGINT and SIGTERM end a command through an exception, so that it still prints its answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM came."""


class Signals:
    """Call `ignore` as soon as the answer is known: nothing may cut it off or print a second one."""

    def __init__(self) -> None:
        self._ignored = False

    def ignore(self) -> None:
        self._ignored = True

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self._ignored:
            return
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


@contextmanager
def stoppable() -> Iterator[Signals]:
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    old = {number: signal.signal(number, signals.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
