"""Runs on the real engine, with a worker in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import NotFoundError, RunError
from checkrein.recipes.fake import BROKEN, ScriptedSteps
from checkrein.recipes.journal import Wait
from checkrein.recipes.outcome import Outcome
from checkrein.recipes.port import Task
from support.recipe_plans import body, plan, step
from support.recipe_staff import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path)
    yield shop
    shop.close()


def begin(shop: Shop, chosen: Any, **more: Any) -> str:
    return shop.desk.add(chosen, cwd="", machine="m", by="ann", **more)


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


def test_a_run_goes_through_branches_and_waits_for_a_person(shop: Shop) -> None:
    steps = ScriptedSteps()
    with shop.worker(steps):
        run = begin(shop, plan(step("first", to="both"), BOTH, EACH, step("last")))
        assert shop.settled(run) == "waiting"
        view = shop.desk.view(run)
        assert [(one.kind, one.path, one.shown) for one in view.waits] == [
            ("confirm", "both/right/ask", "Go?")
        ]
        with pytest.raises(NotFoundError):
            shop.desk.answer(run, "nothing", "approve", "ann", {})
        shop.desk.answer(run, "ask", "approve", "ann", {})
        limit = time.monotonic() + 20
        while shop.desk.state(run) != "done":
            assert time.monotonic() < limit, shop.desk.view(run)
            time.sleep(0.05)
    lines = shop.desk.lines(run)
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
    assert not shop.database.waits()
    with pytest.raises(RunError):
        shop.desk.cancel(run)


def test_pause_go_on_and_cancel(shop: Shop) -> None:
    def slow(task: Task) -> Outcome:
        time.sleep(0.05)
        return Outcome(state="success")

    endless = plan(step("a", to="b"), step("b", to="a"))
    with shop.worker(ScriptedSteps({"a": [slow], "b": [slow]})):
        run = begin(shop, endless)
        shop.desk.pause(run)
        assert shop.settled(run) == "paused"
        shop.desk.go_on(run)
        limit = time.monotonic() + 20
        while shop.desk.state(run) != "running":
            assert time.monotonic() < limit
            time.sleep(0.02)
        shop.desk.cancel(run)
        assert shop.settled(run) == "cancelled"


def test_a_failed_run_says_where_and_why(shop: Shop) -> None:
    with shop.worker(ScriptedSteps({"a": [BROKEN]})):
        run = begin(shop, plan(step("a")))
        assert shop.settled(run) == "failed"
    view = shop.desk.view(run)
    assert (view.step, view.message, view.is_failure) == ("a", "it did not work", True)


def test_a_higher_priority_goes_first(shop: Shop) -> None:
    steps = ScriptedSteps()
    for number in range(3):
        begin(shop, plan(step("a"), n=number), priority=100)
    first = begin(shop, plan(step("a")), priority=1)
    from checkrein.recipes.engine import QueueTerms

    with shop.worker(steps, {"default": QueueTerms(per_worker=1)}):
        limit = time.monotonic() + 20
        while len(steps.tasks) < 4:
            assert time.monotonic() < limit
            time.sleep(0.02)
    assert steps.tasks[0].run == first


def test_a_wait_that_is_answered_once_stays_so(shop: Shop) -> None:
    from checkrein.recipes.journal import Answer

    wait = Wait(kind="confirm", path="a")
    assert shop.database.add_answer("r", wait, Answer(verdict="approve", by="ann", at=1.0))
    assert not shop.database.add_answer("r", wait, Answer(verdict="reject", by="bob", at=2.0))
    found = shop.database.answer("r", wait)
    assert found is not None
    assert found.by == "ann"
