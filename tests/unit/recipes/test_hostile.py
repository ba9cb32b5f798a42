"""What models, programs and databases do to a run: values that no journal holds, a bell that breaks, a
database that goes away."""

from __future__ import annotations

import math
import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy.exc import OperationalError

from checkrein.base.errors import RunError
from checkrein.cli.main import run as cli
from checkrein.llm.cancel import Cancel
from checkrein.recipes import machine
from checkrein.recipes.database import Database, database_at
from checkrein.recipes.fake import Here, MemoryRun, ScriptedSteps
from checkrein.recipes.journal import Wait
from checkrein.recipes.outcome import Outcome, as_recorded, judged
from checkrein.recipes.port import Task
from checkrein.recipes.step_routes import as_list
from checkrein.serve.recipes.house import House
from checkrein.serve.recipes.project_recipes import plan_of
from support.recipe_plans import body, plan, step
from support.recipe_staff import Shop


@pytest.mark.parametrize("seconds", ["inf", "nan", "1e400", "-inf"])
def test_a_wait_has_an_end(seconds: str) -> None:
    run = MemoryRun(plan(step("w", "wait", None, with_args={"seconds": seconds})), ScriptedSteps())
    assert run.go().state == "failed"


def test_an_outcome_is_what_the_journal_gives_back() -> None:
    odd = {"half": "a\ud800b", "nan": math.nan, "numbers": {1: (2, 3)}, "\udfff": 2**70}
    found = as_recorded(Outcome(state="success", result=odd, problem="\udc80"))
    assert found.problem == "?"
    assert found.result == {"half": "a?b", "nan": None, "numbers": {"1": [2, 3]}, "?": 2**70}


@pytest.mark.parametrize("size", [math.inf, math.nan, 10**400, -math.inf])
def test_numbers_without_measure_count_for_nothing(size: float) -> None:
    found = judged({"retry_reason": "rate_limited", "wait_seconds": size, "token_usage": {"input": size}})
    assert (found.state, found.pause, found.tokens) == ("later", 60.0, 0)


@pytest.mark.parametrize("text", ['["\\ud800"]', "[" * 100_000, "[NaN]", "[1e999]"])
def test_a_text_that_only_looks_like_a_list_is_a_text(text: str) -> None:
    assert as_list(text) == [text]


class Broken(Here):
    def merge(self, run: str, branch: str, paths: Sequence[str]) -> str | None:
        raise RunError("git fetch failed in the workspace: no route to host", kind="workspace_failed")

    def ring(self, run: str, wait: Wait) -> None:
        raise FileNotFoundError("the hook is not there")


def test_a_remote_that_is_away_at_the_join_is_a_failure_of_the_step() -> None:
    both = step("both", "parallel", None, on_failure="mend", bodies=(body(step("a"), name="left"),))
    run = MemoryRun(plan(both, step("mend")), ScriptedSteps())
    run.crew = replace(run.crew, workplace=Broken())
    assert run.go().state == "done"
    (joined,) = (one for one in run.entries() if one.path == "both")
    assert (joined.state, joined.reason) == ("failure", "workspace_failed")


def test_a_question_stands_without_its_bell() -> None:
    run = MemoryRun(plan(step("ask", "confirm", None, message="Go?")), ScriptedSteps())
    run.crew = replace(run.crew, bell=Broken())
    assert run.go().state == "waiting"


def test_a_database_that_is_away_for_a_moment_ends_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(tmp_path, lease=0.65)
    failures = dict.fromkeys(("run", "answer", "add_wait"), 2)

    def flaky(name: str) -> Any:
        real = getattr(Database, name)

        def call(self: Database, *given: Any) -> Any:
            if failures[name]:
                failures[name] -= 1
                raise OperationalError("", {}, Exception("database or disk is full"))
            return real(self, *given)

        return call

    run = shop.desk.add(plan(step("ask", "confirm", None, message="Go?")), cwd="", machine="m", by="ann")
    for name in failures:
        monkeypatch.setattr(Database, name, flaky(name))
    with shop.worker(ScriptedSteps()):
        limit = time.monotonic() + 30
        while any(failures.values()) or not shop.database.waits():
            assert time.monotonic() < limit, failures
            time.sleep(0.02)
        assert shop.settled(run) == "waiting"
    shop.close()


def test_the_database_is_for_its_user_alone(tmp_path: Path) -> None:
    (tmp_path / "recipes").mkdir(mode=0o755)
    old = tmp_path / "recipes" / "runs.sqlite"
    old.touch(mode=0o644)
    database = database_at(tmp_path, None)
    database.create()
    with database.engine.connect():
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in old.parent.iterdir()}
    database.close()
    assert modes
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("mark", ["", "PATH=", "recipe-"])
def test_a_row_with_a_mark_of_everybody_ends_nobody(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []

    def found(mark: str) -> set[int]:
        searched.append(mark)
        return set()

    monkeypatch.setattr(machine, "marked", found)
    row = replace(machine.new_worker(tmp_path, "pool"), birth="")
    machine.end_worker(replace(row, mark=mark))
    assert not searched
    machine.end_worker(row)
    assert searched == [row.mark]


def test_bytes_that_are_no_text_are_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["recipe", "run", "any", "-C", str(tmp_path), "-i", "task=\udcff"]) == 2
    assert "UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["ask@2", "both/left", "each[0]", "ask started", "ask\\e[31m", "a#2"])
def test_a_step_that_takes_the_name_of_another_instance_does_not_run(name: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / ".checkrein" / "recipes"
    folder.mkdir(parents=True)
    steps = f'{{"{name}": {{action: stop, message: Over.}}}}'
    (folder / "x.yaml").write_text(f'name: x\nkitchen_rules: ["Only routes."]\nsteps: {steps}\n')
    with pytest.raises(RunError, match="can't be told from others"):
        plan_of("x", str(tmp_path), {})


class Leaving:
    """A worker that leaves ends the program of the first call."""

    def __init__(self) -> None:
        self.run: MemoryRun | None = None

    def do(self, task: Task, cancel: Cancel) -> Outcome:
        if self.run is None:
            return Outcome(state="success")
        self.run.wanted, self.run = "handover", None
        cancel.force()
        return Outcome(state="failure", problem="exit status 143")


@pytest.mark.parametrize(("effect", "state"), [("pure", "done"), ("keyed", "done"), ("once", "waiting")])
def test_a_step_that_a_leaving_worker_ends_has_not_failed(effect: str, state: str) -> None:
    """It runs again elsewhere; of a `once` a person says what became of it."""
    leaving = Leaving()
    run = leaving.run = MemoryRun(plan(step("a", effect=effect)), leaving)
    assert [one.kind for one in run.go().waits] == ["handover"]
    run.wanted = None
    end = run.go()
    assert end.state == state
    assert [one.kind for one in end.waits] == (["reconcile"] if effect == "once" else [])


def test_ctrl_c_says_how_the_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / ".checkrein" / "recipes"
    folder.mkdir(parents=True)
    over = "steps: {over: {action: stop, message: Over.}}"
    (folder / "x.yaml").write_text(f'name: x\nkitchen_rules: ["Only routes."]\n{over}\n')

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(House, "_settled", interrupted)
    assert cli(["recipe", "run", "x", "-C", str(tmp_path)]) == 130
    assert "checkrein recipe resume r-" in capsys.readouterr().err
