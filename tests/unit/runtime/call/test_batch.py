from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.runtime.call.batch import partition, run_group
from checkrein.runtime.session.events import Event, Notice


@settings(max_examples=300, derandomize=True)
@given(st.lists(st.booleans(), max_size=40), st.integers(1, 12))
def test_partition_keeps_order_and_only_joins_readers(calls: list[bool], most: int) -> None:
    numbered = list(enumerate(calls))
    groups = list(partition(numbered, lambda call: call[1], most))
    assert [call for group in groups for call in group] == numbered
    for group in groups:
        assert 0 < len(group) <= most
        assert len(group) == 1 or all(parallel for _, parallel in group)


def test_neighbours_are_joined() -> None:
    assert [len(group) for group in partition("rrwrrr", lambda call: call == "r", 10)] == [2, 1, 3]


def test_results_come_in_call_order_whatever_ends_first() -> None:
    gates = [threading.Event() for _ in range(3)]

    def run(call: int, emit: Callable[[Event], None]) -> str:
        gates[call].wait(20)
        emit(Notice("info", f"ended {call}"))
        if call:
            gates[call - 1].set()
        return f"result {call}"

    gates[2].set()
    items = list(run_group([0, 1, 2], run))
    assert [item.text for item in items if isinstance(item, Notice)] == ["ended 2", "ended 1", "ended 0"]
    assert [item for item in items if isinstance(item, tuple)] == [(n, f"result {n}") for n in range(3)]


def test_a_group_runs_at_once() -> None:
    together = threading.Barrier(10)

    def run(call: int, emit: Callable[[Event], None]) -> int:
        together.wait(20)
        return call

    assert len(list(run_group(range(10), run))) == 10


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, ZeroDivisionError])
def test_what_a_call_raises_ends_the_group(error: type[BaseException]) -> None:
    def run(call: int, emit: Callable[[Event], None]) -> int:
        raise error

    with pytest.raises(error):
        list(run_group([0], run))
