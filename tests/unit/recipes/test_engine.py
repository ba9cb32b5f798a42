"""Runs on the real engine, with a worker in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import NotFoundError, RunError
from checkrein.recipes.engine import BodyRow
from checkrein.recipes.fake import BROKEN, ScriptedSteps
from checkrein.recipes.journal import Wait
from checkrein.recipes.machine import new_worker
from checkrein.recipes.outcome import Outcome
from checkrein.recipes.port import Task
from checkrein.recipes.sweep import Sweep
from support.recipe_plans import body, plan, step
from support.recipe_staff import Shop


@pytest.fixture
def market(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.close()


def begin(market: Shop, chosen: Any, **more: Any) -> str:
    return market.desk.add(chosen, cwd="", machine="m", by="ann", **more)


BOTH = step(
    "both",
    "parallel",
    None,
    "each",
    bodies=(
        body(step("a", capture={"x": "${{ result.success }}"}), name="left"),
        body(step("ask", "confirm", None, "b", message="Go?"), step("b"), name="right"),
    ),
)
EACH = step("each", "foreach", "1,2,3", "last", limit=2, bodies=(body(step("c"), name="c"),))


def test_a_run_goes_through_branches_and_waits_for_a_person(market: Shop) -> None:
    steps = ScriptedSteps()
    with market.worker(steps):
        run = begin(market, plan(step("first", to="both"), BOTH, EACH, step("last")))
        assert market.settled(run) == "waiting"
        view = market.desk.view(run)
        assert [(one.kind, one.path, one.shown) for one in view.waits] == [
            ("confirm", "both/right/ask", "Go?")
        ]
        with pytest.raises(NotFoundError):
            market.desk.answer(run, "nothing", "approve", "ann", {})
        market.desk.answer(run, "ask", "approve", "ann", {})
        limit = time.monotonic() + 20
        while market.desk.state(run) != "done":
            assert time.monotonic() < limit, market.desk.view(run)
            time.sleep(0.05)
    lines = market.desk.lines(run)
    said = next(one.entry for one in lines if one.entry.path == "both/right/ask" and one.entry.by)
    assert (said.by, said.shown, said.state) == ("ann", "Go?", "success")
    assert sorted(one.path for one in steps.tasks) == [
        "both/left/a",
        "both/right/b",
        "each[0]/c",
        "each[1]/c",
        "each[2]/c",
        "first",
        "last",
    ]
    assert not market.database.waits()
    with pytest.raises(RunError):
        market.desk.cancel(run)


def test_pause_go_on_and_cancel(market: Shop) -> None:
    def slow(task: Task) -> Outcome:
        time.sleep(0.05)
        return Outcome(state="success")

    endless = plan(step("a", to="b"), step("b", to="a"))
    with market.worker(ScriptedSteps({"a": [slow], "b": [slow]})):
        run = begin(market, endless)
        market.desk.pause(run)
        assert market.settled(run) == "paused"
        market.desk.go_on(run)
        limit = time.monotonic() + 20
        while market.desk.state(run) != "running":
            assert time.monotonic() < limit
            time.sleep(0.02)
        market.desk.cancel(run)
        assert market.settled(run) == "cancelled"


def test_a_failed_run_says_where_and_why(market: Shop) -> None:
    with market.worker(ScriptedSteps({"a": [BROKEN]})):
        run = begin(market, plan(step("a")))
        assert market.settled(run) == "failed"
    view = market.desk.view(run)
    assert (view.step, view.message, view.is_failure) == ("a", "it did not work", True)


def test_a_higher_priority_goes_first(market: Shop) -> None:
    steps = ScriptedSteps()
    for number in range(3):
        begin(market, plan(step("a"), n=number), priority=200)
    first = begin(market, plan(step("a")), priority=150)
    from checkrein.recipes.engine import QueueTerms

    with market.worker(steps, {"default": QueueTerms(per_worker=1)}):
        limit = time.monotonic() + 20
        while len(steps.tasks) < 4:
            assert time.monotonic() < limit
            time.sleep(0.02)
    assert steps.tasks[0].run_id == first


def test_a_wait_that_is_answered_once_stays_so(market: Shop) -> None:
    from checkrein.recipes.journal import Answer

    wait = Wait(kind="confirm", path="a")
    assert market.database.add_answer("r", wait, Answer(verdict="approve", by="ann", at=1.0))
    assert not market.database.add_answer("r", wait, Answer(verdict="reject", by="bob", at=2.0))
    found = market.database.answer("r", wait)
    assert found is not None
    assert found.by == "ann"


def test_a_queue_holds_to_its_limits(market: Shop) -> None:
    from checkrein.recipes.engine import QueueTerms

    running: list[int] = []
    most = 0
    lock = threading.Lock()

    def slow(task: Task) -> Outcome:
        nonlocal most
        with lock:
            running.append(1)
            most = max(most, len(running))
        time.sleep(0.15)
        with lock:
            running.pop()
        return Outcome(state="success")

    with market.worker(ScriptedSteps({"a": [slow]}), {"default": QueueTerms(concurrency=2, per_worker=2)}):
        runs = [begin(market, plan(step("a"))) for _ in range(5)]
        assert {market.settled(run) for run in runs} == {"done"}
    assert most == 2


def test_what_a_buried_worker_claimed_is_gathered(market: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that stood still wakes up, claims, and only then hears that it was declared dead."""
    run = begin(market, plan(step("a")))
    me, other = new_worker(market.home, "pool"), new_worker(market.home, "pool")
    market.database.add_worker(other)
    taken: list[str] = []
    begun = [BodyRow(id=run, status="PENDING", worker=one) for one in ("w-buried", other.id)]
    monkeypatch.setattr(market.engine, "pending", lambda: begun)
    monkeypatch.setattr(market.engine, "take", lambda body, worker, queue: taken.append(worker))
    Sweep(market.database, market.engine, me).gather()
    assert taken == ["w-buried"]
