"""Wakes: each is taken once, by a running turn or by a turn of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from checkrein.runtime.session.events import Notice
from checkrein.runtime.session.wakes import Wake, Wakes


def wake(text: str, *, prompt: bool = False, awaited: bool = False) -> Wake:
    return Wake(text=text, source="test", prompt=prompt, awaited=awaited)


class Given:
    """A source with wakes that become due at the next look."""

    def __init__(self, *wakes: Wake, awaited: bool = False) -> None:
        self.wakes = list(wakes)
        self.awaited = awaited

    def due(self) -> Sequence[Wake]:
        due, self.wakes = self.wakes, []
        return due


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["put", "source"]), st.booleans()),
        st.tuples(st.sampled_from(["notes", "next"])),
    ),
    max_size=30,
)


@given(STEPS)
def test_each_wake_is_taken_once_in_order(steps: list[tuple[object, ...]]) -> None:
    wakes, source = Wakes(), Given()
    wakes.join(source)
    put: list[str] = []
    notes: list[Wake] = []
    turns: list[Wake] = []
    for number, step in enumerate(steps):
        if step[0] == "put":
            wakes.put(wake(f"{number}", prompt=bool(step[1])))
            put.append(f"{number}")
        elif step[0] == "source":
            source.wakes.append(wake(f"{number}", prompt=bool(step[1])))
            put.append(f"{number}")
        elif step[0] == "notes":
            found = wakes.notes()
            assert not any(one.prompt for one in found), "a prompt never enters a running turn"
            notes += found
        else:
            one = wakes.next()
            turns += [one] if one is not None else []
    while (one := wakes.next()) is not None:
        turns.append(one)
    assert sorted(one.text for one in (*notes, *turns)) == sorted(put)
    assert wakes.notes() == []


def test_threads_take_each_wake_once() -> None:
    wakes = Wakes()
    many, takers = 400, 4
    taken: list[str] = []
    over = threading.Event()

    def give(start: int) -> None:
        for number in range(start, many, 2):
            wakes.put(wake(str(number)))

    def take(by_notes: bool) -> None:
        while not over.is_set() or wakes.awaited:
            found = wakes.notes() if by_notes else [one for one in (wakes.next(),) if one is not None]
            taken.extend(one.text for one in found)
            if len(taken) >= many:
                return
            wakes.wait(0.01)

    threads = [threading.Thread(target=give, args=(start,)) for start in range(2)]
    threads += [threading.Thread(target=take, args=(number % 2 == 0,)) for number in range(takers)]
    for one in threads:
        one.start()
    for one in threads[:2]:
        one.join()
    over.set()
    for one in threads:
        one.join(10)
    taken.extend(one.text for one in wakes.notes())
    assert sorted(taken, key=int) == [str(number) for number in range(many)]


def test_a_source_that_ends_while_one_looks_is_still_awaited() -> None:
    """It puts its wake and is not awaited any more: one of the two is seen."""
    wakes = Wakes()

    class Ending:
        @property
        def awaited(self) -> bool:
            wakes.put(wake("the report", awaited=True))
            return False

        def due(self) -> Sequence[Wake]:
            return ()

    wakes.join(Ending())
    assert wakes.awaited


def test_only_what_is_awaited_keeps_a_run_alive() -> None:
    wakes = Wakes()
    wakes.put(wake("a timer"))
    assert not wakes.awaited
    wakes.put(wake("a report", awaited=True))
    assert wakes.awaited
    wakes.notes()
    assert not wakes.awaited
    wakes.join(Given(awaited=True))
    assert wakes.awaited


def test_waiting_ends_with_news() -> None:
    wakes = Wakes()
    called = threading.Event()
    wakes.listen(called.set)
    threading.Timer(0.05, wakes.tell, (Notice("info", "x"),)).start()
    began = time.monotonic()
    wakes.wait(30)
    assert time.monotonic() - began < 5
    assert called.is_set()
    assert wakes.heard() == [Notice("info", "x")]
    assert wakes.heard() == []


class Due:
    """A source with a list of what is due."""

    awaited = False

    def __init__(self, *texts: str, prompt: bool = False) -> None:
        self.texts = list(texts)
        self.prompt = prompt

    def due(self) -> Sequence[Wake]:
        return [Wake(text=self.texts.pop(0), source="test", prompt=self.prompt)] if self.texts else []


def test_a_running_turn_does_not_look_at_what_is_for_idle_sessions() -> None:
    wakes, timer = Wakes(), Due("job", prompt=True)
    wakes.join(Due("note"))
    wakes.join(timer, idle=True)
    assert [wake.text for wake in wakes.notes()] == ["note"]
    assert timer.texts == ["job"]


def test_an_idle_session_looks_there_last_and_nothing_waits() -> None:
    wakes, timer = Wakes(), Due("one", "two", prompt=True)
    wakes.join(timer, idle=True)
    wakes.put(Wake(text="first", source="test"))
    found = []
    for left in (2, 1, 0, 0):
        found.append(wakes.next())
        assert len(timer.texts) == left
    assert [wake.text if wake else None for wake in found] == ["first", "one", "two", None]


def test_what_is_for_idle_sessions_can_be_awaited_too() -> None:
    wakes, timer = Wakes(), Due()
    wakes.join(timer, idle=True)
    assert not wakes.awaited
    timer.awaited = True
    assert wakes.awaited
