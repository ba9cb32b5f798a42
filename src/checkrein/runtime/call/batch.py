"""Runs the tool calls of one reply: read-only ones together, the others one by one, results in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from checkrein.llm.cancel import Cancel
from checkrein.runtime.session.channel import Ended, together
from checkrein.runtime.session.events import Event

C = TypeVar("C")
R = TypeVar("R")

Run = Callable[[C, Callable[[Event], None]], R]
"""Does one call; its events go to the second argument."""


def partition(calls: Sequence[C], parallel: Callable[[C], bool], most: int) -> Iterator[list[C]]:
    """Groups of calls that may run together, in order: neighbours for which `parallel` holds, at most so
    many."""
    group: list[C] = []
    for call in calls:
        if parallel(call) and len(group) < most:
            group.append(call)
            continue
        if group:
            yield group
        group = [call] if parallel(call) else []
        if not group:
            yield [call]
    if group:
        yield group


def run_group(
    calls: Sequence[C], run: Run[C, R], leave: Cancel | None = None
) -> Iterator[Event | tuple[C, R]]:
    """Run all calls at once, each in a thread. Yields events as they come and the results in call order.
    Raises what `run` raises, and `Abandoned` when `leave` fires first.

    Leaving the iterator early abandons the threads. The caller must first cancel what they wait for.
    """
    results: dict[int, R] = {}
    following = 0
    for item in together([partial(run, call) for call in calls], "tool", leave):
        if not isinstance(item, Ended):
            yield item
            continue
        results[item.index] = item.value
        while following in results:
            yield calls[following], results.pop(following)
            following += 1
