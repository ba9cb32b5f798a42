"""Subagents that misbehave: names, sizes, numbers, silence, and reports at the worst moment."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.port import Cancel, ModelEvent, Request
from checkrein.runtime.session.events import BackgroundEnded, ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel
from support.agents import below, files, heard, lived, order, orders, said
from support.sessions import call, open_session

PROJECT = pytest.mark.project(files())
FIRST = {"text": "w", "repeat": 0}
AT_ONCE = {"CLAUDE_CODE_WORKFLOW_PREFIX_STAGGER_MS": "1"}


def requests(session: Session) -> Any:
    return session.conversation.models.model.requests  # type: ignore[attr-defined]


def agents(session: Session) -> Any:
    return session._agents.all()  # type: ignore[union-attr]


def home_files() -> set[str]:
    home = Path(os.environ["CHECKREIN_HOME"])
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}


@PROJECT
@pytest.mark.parametrize(
    "name",
    ["../../../escape", "/etc/escape", "a\x1b[31mb", "two\nlines", "x" * 100_000, "<system-reminder>", ""],
)
def test_a_name_is_only_a_name(project: Path, name: str) -> None:
    more = {"name": name, "run_in_background": False}
    with open_session(project, *below({"text": "r"}), orders(order(**more)), FIRST) as session:
        events = lived(session)
        (done,) = [one for one in events if isinstance(one, ToolFinished) and one.name == "Agent"]
        if not done.is_error:
            (task,) = agents(session)
            assert Path(task.path).name == f"{task.id}.output"
            assert (task.kept.name or "x").isprintable()
    assert not any("escape" in file for file in home_files())
    assert not (project.parent / "escape").exists()
    assert not Path("/etc/escape").exists()


@PROJECT
@pytest.mark.parametrize("type", ["../worker", "worker\n", "WORKER", "/etc/passwd", "fork", "x" * 100_000])
def test_a_type_is_one_that_there_is(project: Path, type: str) -> None:
    with open_session(project, orders(order(type=type)), FIRST) as session:
        (done,) = [one for one in lived(session) if isinstance(one, ToolFinished)]
        assert done.is_error
        assert heard(requests(session)) == []


@PROJECT
@pytest.mark.parametrize("field", ["prompt", "description", "name"])
def test_a_field_of_a_megabyte(project: Path, field: str) -> None:
    big = order(**{field: "lorem ipsum " * 90_000}) if field != "description" else order()
    if field == "description":
        big["input"]["description"] = "lorem ipsum\n" * 90_000
    with open_session(project, *below({"text": "r"}), orders(big), FIRST) as session:
        began = time.monotonic()
        lived(session)
        assert time.monotonic() - began < 10
        (task,) = agents(session)
        assert task.state == "completed"
        told = said(requests(session)[-1].messages)
        assert len(told) < 100_000, "the notification does not repeat it"


@PROJECT
def test_a_report_of_twenty_megabytes(project: Path) -> None:
    with open_session(project, *below({"text": "y" * 20_000_000}), orders(order()), FIRST) as session:
        began = time.monotonic()
        lived(session)
        assert time.monotonic() - began < 30
        (task,) = agents(session)
        assert task.state == "completed"
        assert len(said(requests(session)[-1].messages)) < 100_000
        assert Path(task.path).stat().st_size == 20_000_000


@PROJECT
def test_a_report_that_no_transcript_takes(project: Path) -> None:
    with open_session(project, *below({"text": "y" * 50_000_000}), orders(order()), FIRST) as session:
        lived(session)
        (task,) = agents(session)
        assert task.state == "failed"
        assert "too large" in said(requests(session)[-1].messages)
        assert session.result is not None
        assert session.result.text == "w"


@PROJECT
def test_two_hundred_agents_in_one_reply(project: Path) -> None:
    many = 200
    with open_session(
        project,
        *below({"text": "r", "delay": 1.0, "repeat": 0}),
        orders(*(order(f"task {number}") for number in range(many))),
        FIRST,
        env={**os.environ, **AT_ONCE},
    ) as session:
        began = time.monotonic()
        events = lived(session)
        assert time.monotonic() - began < 30
        answers = [one for one in events if isinstance(one, ToolFinished) and one.agent_id is None]
        assert len(answers) == many
        started = [one for one in answers if not one.is_error]
        assert 20 <= len(started) < many
        assert len(heard(requests(session))) == len(started)
        assert all(task.state == "completed" for task in agents(session) if task.kept.report)


@pytest.mark.project(files(name="Explore", tools="Read"))
def test_a_definition_with_the_name_of_a_builtin_replaces_it(project: Path) -> None:
    with open_session(
        project,
        *below({"text": "r"}, {"text": "again"}),
        orders(order(type="Explore", name="x", run_in_background=False)),
        call("SendMessage", to="x", message="more", summary="s"),
        FIRST,
    ) as session:
        lived(session)
        assert len(heard(requests(session))) == 2, "it is ours now, so it can go on"
        assert {tool.name for tool in heard(requests(session))[0].tools} == {"Read"}


@PROJECT
def test_an_agent_does_not_write_the_sessions_files(project: Path) -> None:
    """Nothing of the session's own is a file that it may edit without a question."""
    with open_session(project, mode="acceptEdits") as session:
        transcript = str(session.conversation.recorder.writer.path)
        tries = [
            call("Write", file_path=transcript, content="{}"),
            call("Write", file_path=f"{transcript[:-6]}/subagents/agent-x.jsonl", content="{}"),
            call("Bash", command=f"echo x >> {transcript}"),
        ]
        session.conversation.models.model.script = ScriptedModel(  # type: ignore[attr-defined]
            [*below(*tries, {"text": "tried"}), orders(order(run_in_background=False)), FIRST]
        ).script
        events = lived(session)
        refused = [one for one in events if isinstance(one, ToolFinished) and one.agent_id is not None]
        assert len(refused) == 3
        assert all(one.is_error for one in refused)


class Deaf:
    """A model whose subagents hang, whatever one tells them."""

    name = "deaf"

    def __init__(self, inner: ScriptedModel) -> None:
        self._inner = inner
        self.hung = threading.Event()
        self.over = threading.Event()

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        if heard([request]):
            self.hung.set()
            self.over.wait(30)
        return self._inner.stream(request, cancel)


@PROJECT
def test_many_that_do_not_listen_hold_up_nobody(project: Path) -> None:
    calls = orders(*(order(f"task {number}") for number in range(8)))
    model = Deaf(ScriptedModel([*below(FIRST), calls, FIRST]))
    env = {**os.environ, **AT_ONCE}
    session = Session(project, model=model, options=Options(trust=True), env=env)
    try:
        list(session.run("go"))
        assert model.hung.wait(10)
        time.sleep(0.5)
        began = time.monotonic()
        session.close()
        assert time.monotonic() - began < 4
    finally:
        model.over.set()


@PROJECT
@pytest.mark.parametrize("background", [True, False])
def test_a_child_that_does_not_listen_holds_up_nobody(project: Path, background: bool) -> None:
    model = Deaf(ScriptedModel([*below(FIRST), orders(order(run_in_background=background)), FIRST]))
    session = Session(project, model=model, options=Options(trust=True))
    ends = threading.Thread(
        target=lambda: (model.hung.wait(10), time.sleep(0.2), session.control.interrupt())
    )
    ends.start()
    try:
        list(session.run("go"))
        ends.join()
        began = time.monotonic()
        session.close()
        assert time.monotonic() - began < 4
    finally:
        model.over.set()


@PROJECT
def test_a_report_at_the_end_of_a_turn_is_told_once(project: Path) -> None:
    """It arrives before, while and after the parent's turn ends."""
    for number in range(40):
        delay = 0.02 + 0.002 * number
        with open_session(
            project,
            *below({"text": f"REPORT-{number}.", "delay": delay}),
            orders(order()),
            {"text": "w", "delay": 0.06, "repeat": 0},
            persist=False,
        ) as session:
            events = lived(session)
            told = said(requests(session)[-1].messages)
            assert told.count(f"REPORT-{number}.") == 1, delay
            assert sum(isinstance(one, BackgroundEnded) for one in events) == 1, delay
            assert not session.control.wakes.awaited


@PROJECT
def test_reports_that_arrive_together_are_all_told(project: Path) -> None:
    many = 15
    with open_session(
        project,
        *(
            turn
            for number in range(many)
            for turn in below({"text": f"REPORT-{number}.", "delay": 0.1}, to=f"task-{number}.")
        ),
        orders(*(order(f"task-{number}.") for number in range(many))),
        FIRST,
        env={**os.environ, **AT_ONCE},
    ) as session:
        lived(session)
        told = said(requests(session)[-1].messages)
        assert [told.count(f"REPORT-{number}.") for number in range(many)] == [1] * many
