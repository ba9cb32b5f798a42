"""A task between its start and its end."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

from checkrein.llm.port import Cancel
from checkrein.runtime.agents.task import AgentTask
from checkrein.runtime.session.control import Control
from checkrein.runtime.store.kept_task import KeptTask

KEPT = KeptTask(id="a1", type="worker", call="c", description="d")
DONE = KeptTask(id="a1", type="worker", call="c", description="d", state="completed", report="r")


def running() -> Any:
    task: Any = AgentTask(KEPT, "/x")
    task.session = SimpleNamespace(control=Control())
    return task


def test_waiting_ends_with_the_task_with_the_time_or_with_the_cancel() -> None:
    task, cancel = running(), Cancel()
    assert not task.wait(0.01, cancel)
    threading.Timer(0.05, task.end, (DONE,)).start()
    assert task.wait(5, cancel)
    again = running()
    threading.Timer(0.05, cancel.cancel).start()
    began = time.monotonic()
    assert not again.wait(30, cancel)
    assert time.monotonic() - began < 2


def test_it_hears_messages_until_it_has_heard_all() -> None:
    task = running()
    assert task.say("one")
    assert task.say("two")
    assert task.waiting() == "one\n\ntwo"
    assert task.say("three"), "another turn follows"
    assert task.waiting() == "three"
    assert task.waiting() is None
    assert not task.say("four")


def test_after_a_bad_end_it_hears_nothing() -> None:
    task = running()
    task.say("one")
    assert task.waiting(last=True) == "one"
    assert not task.say("two")


def test_one_that_begins_again_listens_again() -> None:
    task = running()
    assert task.waiting() is None
    task.end(DONE)
    assert not task.say("late")
    task.begin(KEPT)
    task.session = SimpleNamespace(control=Control())
    assert task.say("again")
    assert not task.wait(0.01, Cancel())


def test_each_message_is_taken_or_refused() -> None:
    """Senders in threads against the end of the task: what `say` took, `waiting` gave."""
    for _ in range(50):
        _race(running(), [])


def _race(task: Any, taken: list[str]) -> None:
    def send(text: str) -> None:
        if task.say(text):
            taken.append(text)

    threads = [threading.Thread(target=send, args=(str(number),)) for number in range(4)]
    for one in threads:
        one.start()
    heard: list[str] = []
    while (text := task.waiting()) is not None:
        heard += text.split("\n\n")
    for one in threads:
        one.join()
    assert sorted(heard) == sorted(taken)
