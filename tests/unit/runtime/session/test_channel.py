"""How events travel between stages and threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator

import pytest

from checkrein.runtime.session.channel import drained, ignored, pumped


def stage(*events: str, value: int = 7) -> Generator[str, None, int]:
    yield from events
    return value


def test_drained_hands_on_every_event_and_gives_the_value() -> None:
    heard: list[str] = []
    assert drained(stage("a", "b"), heard.append) == 7
    assert heard == ["a", "b"]
    assert drained(stage("a"), ignored) == 7


def test_drained_raises_what_the_stage_raises() -> None:
    def broken() -> Generator[str, None, int]:
        yield "a"
        raise ZeroDivisionError

    heard: list[str] = []
    with pytest.raises(ZeroDivisionError):
        drained(broken(), heard.append)
    assert heard == ["a"]


def test_pumped_gives_events_while_the_work_goes_on() -> None:
    heard = threading.Event()

    def work(emit: Callable[[str], None]) -> str:
        emit("first")
        assert heard.wait(20), "the event came only at the end"
        emit("second")
        return threading.current_thread().name

    running = pumped(work, name="worker")
    assert next(running) == "first"
    heard.set()
    rest: list[str] = []
    assert drained(running, rest.append) == "worker", "in a thread of its own"
    assert rest == ["second"]


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), KeyboardInterrupt()])
def test_pumped_raises_what_the_work_raises_after_its_events(error: BaseException) -> None:
    def work(emit: Callable[[str], None]) -> None:
        emit("first")
        raise error

    heard: list[str] = []
    with pytest.raises(type(error)):
        drained(pumped(work), heard.append)
    assert heard == ["first"]


def test_pumped_may_return_none() -> None:
    assert drained(pumped(lambda emit: None), ignored) is None


def test_nothing_runs_before_the_first_event_is_wanted_and_leaving_ends_the_wait() -> None:
    began, ends = threading.Event(), threading.Event()

    def work(emit: Callable[[str], None]) -> None:
        began.set()
        emit("first")
        ends.wait(20)

    running = pumped(work)
    assert not began.is_set()
    assert next(running) == "first"
    running.close()
    ends.set()


def test_they_nest() -> None:
    def outer(emit: Callable[[str], None]) -> int:
        return drained(pumped(lambda inner: drained(stage("a", "b"), inner)), emit)

    heard: list[str] = []
    assert drained(pumped(outer), heard.append) == 7
    assert heard == ["a", "b"]
