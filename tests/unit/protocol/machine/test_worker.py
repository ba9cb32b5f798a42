from __future__ import annotations

import threading
import time

import pytest

from checkrein.protocol.machine.worker import Worker


def nothing() -> None:
    return None


def test_the_value_of_the_work() -> None:
    ended = Worker().do(lambda: 42, until=None, grace=0.1, interrupt=nothing)
    assert (ended.value, ended.late, ended.observed) == (42, False, True)


def test_what_the_work_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        Worker().do(lambda: 1 // 0, until=None, grace=0.1, interrupt=nothing)


def test_work_that_stops_when_told_is_observed() -> None:
    told = threading.Event()
    ended = Worker().do(
        lambda: told.wait(10) and "stopped", until=time.monotonic(), grace=5.0, interrupt=told.set
    )
    assert (ended.value, ended.late, ended.observed) == ("stopped", True, True)


def test_work_that_does_not_listen_is_not_observed() -> None:
    end = threading.Event()
    began = time.monotonic()
    ended = Worker().do(lambda: end.wait(10), until=began + 0.05, grace=0.1, interrupt=nothing)
    assert (ended.value, ended.late, ended.observed) == (None, True, False)
    assert time.monotonic() - began < 5
    end.set()


def test_an_interrupt_that_is_lost_is_repeated() -> None:
    asked: list[float] = []
    told = threading.Event()

    def interrupt() -> None:
        asked.append(time.monotonic())
        if len(asked) > 2:
            told.set()

    assert Worker().do(lambda: told.wait(10), until=time.monotonic(), grace=5, interrupt=interrupt).observed
    assert len(asked) > 2


def test_pieces_of_work_share_one_thread() -> None:
    worker = Worker()
    names = {worker.do(threading.get_ident, until=None, grace=0, interrupt=nothing).value for _ in range(3)}
    assert len(names) == 1
    assert threading.get_ident() not in names
