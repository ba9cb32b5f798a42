"""Runs the tool calls of one reply: read-only ones together, the others one by one, results in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

from checkrein.runtime.session.events import Event

C = TypeVar("C")
R = TypeVar("R")
MAX_PARALLEL = 10
WAKE = 0.25
"""Seconds between wake-ups. A waiting thread sees a signal that another thread took when it wakes."""

Run = Callable[[C, Callable[[Event], None]], R]
"""Does one call; its events go to the second argument."""


def partition(calls: Sequence[C], parallel: Callable[[C], bool]) -> Iterator[list[C]]:
    """Groups of calls that may run together, in order: neighbours for which `parallel` holds, up to ten."""
    group: list[C] = []
    for call in calls:
        if parallel(call) and len(group) < MAX_PARALLEL:
            group.append(call)
            continue
        if group:
            yield group
        group = [call] if parallel(call) else []
        if not group:
            yield [call]
    if group:
        yield group


def run_group(calls: Sequence[C], run: Run[C, R]) -> Iterator[Event | tuple[C, R]]:
    """Run all calls at once, each in a thread. Yields events as they come and the results in call order.

    Every call gets its result: `run` must not raise. Leaving the iterator early abandons the threads. The
    caller must first cancel what they wait for.
    """
    queue: SimpleQueue[tuple[int, Event | None, R | None]] = SimpleQueue()
    results: dict[int, R] = {}

    def work(index: int, call: C) -> None:
        result = run(call, lambda event: queue.put((index, event, None)))
        queue.put((index, None, result))

    for index, call in enumerate(calls):
        threading.Thread(target=work, args=(index, call), name=f"tool-{index}", daemon=True).start()
    following = 0
    while following < len(calls):
        try:
            index, event, result = queue.get(timeout=WAKE)
        except Empty:
            continue
        if event is not None:
            yield event
            continue
        results[index] = result  # type: ignore[assignment]  # an entry without an event is a result
        while following in results:
            yield calls[following], results.pop(following)
            following += 1
