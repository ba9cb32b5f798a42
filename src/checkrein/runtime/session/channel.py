"""How events travel: a stage is a generator that yields events and returns its value.

Work that blocks in its own thread reports events through a function. These two are the only bridges between
the two forms.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from queue import Empty, SimpleQueue
from typing import Never, TypeVar

E = TypeVar("E")
R = TypeVar("R")
WAKE = 0.25
"""Seconds between wake-ups. A waiting thread sees a signal that another thread took when it wakes."""


def drained(stage: Generator[E, None, R], emit: Callable[[E], object]) -> R:
    """Run a stage to its end in this thread; its events go to `emit`."""
    while True:
        try:
            event = next(stage)
        except StopIteration as end:
            value: R = end.value
            return value
        emit(event)


def ignored(event: object) -> None:
    """Drops events."""


def pumped(work: Callable[[Callable[[E], None]], R], name: str = "work") -> Generator[E, None, R]:
    """Run `work` in its own thread; a stage that yields the events it reports. Raises what `work` raises.

    Leaving the stage early abandons the thread. The caller must first cancel what it waits for.
    """
    queue: SimpleQueue[tuple[E | None, Callable[[], R] | None]] = SimpleQueue()

    def run() -> None:
        try:
            value = work(lambda event: queue.put((event, None)))
        except BaseException as error:  # raised again in the thread that waits
            queue.put((None, _raising(error)))
        else:
            queue.put((None, lambda: value))

    threading.Thread(target=run, name=name, daemon=True).start()
    while True:
        try:
            event, end = queue.get(timeout=WAKE)
        except Empty:
            continue
        if end is not None:
            return end()
        yield event  # type: ignore[misc]  # an entry without an end is an event


def _raising(error: BaseException) -> Callable[[], Never]:
    def end() -> Never:
        raise error

    return end
