"""How events travel: a stage is a generator that yields events and returns its value.

Work that blocks in its own thread reports events through a function. These are the only bridges between the
two forms.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Generic, Never, TypeVar

from msgspec import Struct

from checkrein.llm.cancel import Cancel

E = TypeVar("E")
R = TypeVar("R")
Work = Callable[[Callable[[E], None]], R]
"""Blocks until it has its value. It reports events to its argument."""
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


class Ended(Struct, Generic[R], frozen=True):
    """The value of one work, by its place among the works."""

    index: int
    value: R


class Abandoned(Exception):  # noqa: N818  it tells of the work, which goes on
    """Nobody waits for the work any more, and nobody hears its events."""


def together(
    works: Sequence[Work[E, R]], name: str = "work", leave: Cancel | None = None
) -> Iterator[E | Ended[R]]:
    """Run every work in its own thread. Yields the events that they report and their values as they end.
    Raises what a work raises, and `Abandoned` when `leave` fires first.

    Leaving early abandons the threads. The caller must first cancel what they wait for.
    """
    from queue import Empty, SimpleQueue

    queue: SimpleQueue[Callable[[], E | Ended[R]]] = SimpleQueue()

    def run(index: int, work: Work[E, R]) -> None:
        try:
            ended = Ended(index, work(lambda event: queue.put(lambda: event)))
        except BaseException as error:  # raised again in the thread that waits
            queue.put(_raising(error))
        else:
            queue.put(lambda: ended)

    for index, work in enumerate(works):
        threading.Thread(target=run, args=(index, work), name=name, daemon=True).start()
    running = len(works)
    while running:
        if leave is not None and leave.cancelled:
            raise Abandoned
        try:
            take = queue.get(timeout=WAKE)
        except Empty:
            continue
        item = take()
        running -= isinstance(item, Ended)
        yield item


def pumped(work: Work[E, R], name: str = "work", leave: Cancel | None = None) -> Generator[E, None, R]:
    """`together` for one work: a stage that yields its events and returns its value."""
    running = together([work], name, leave)
    while not isinstance(item := next(running), Ended):
        yield item
    value: R = item.value
    return value


def _raising(error: BaseException) -> Callable[[], Never]:
    def end() -> Never:
        raise error

    return end
