"""Whole sessions with a scripted model in a small project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.session.control import Asker
from checkrein.runtime.session.events import Event, Finished, Result, ToolFinished, Transition
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.turn.retry import RetryPolicy
from checkrein.testing import ScriptedModel, ScriptedServer, Turn
from support.programs import Programs
from support.repositories import make_repository

QUICK = RetryPolicy(attempts=3, scale=0.001)


class Played:
    """The events of a run, and the few questions tests ask of them."""

    def __init__(self, events: Iterable[Event], model: ScriptedModel, session: Session) -> None:
        self.events = list(events)
        self.model = model
        self.session = session

    @property
    def result(self) -> Result:
        last = self.events[-1]
        assert isinstance(last, Finished)
        return last.result

    @property
    def transitions(self) -> list[str]:
        return [event.name for event in self.events if isinstance(event, Transition)]

    @property
    def tools(self) -> list[ToolFinished]:
        """The calls of the model in the session's own conversation."""
        own = [event for event in self.events if isinstance(event, ToolFinished)]
        return [event for event in own if event.agent_id is None and event.caller == "model"]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


Play = Callable[..., Played]


@pytest.fixture
def project(project: Path) -> Path:
    (project / "a.txt").write_text("alpha\n")
    return project


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit."""
    return make_repository(tmp_path / "repository")


@pytest.fixture
def play(project: Path) -> Iterable[Play]:
    opened: list[Session] = []

    def run(
        *turns: Turn, prompt: str = "go", asker: Asker | None = None, idle: float = 5.0, **options: Any
    ) -> Played:
        model = ScriptedModel(turns, idle=idle)
        settings = Options(**{"trust": True, "retry": QUICK, **options})
        session = Session(project, model=model, options=settings, asker=asker)
        opened.append(session)
        return Played(session.run(prompt), model, session)

    yield run
    for session in opened:
        session.close()


@pytest.fixture
def serve(project: Path) -> Iterator[Callable[..., Programs]]:
    """Programs in the project, beside an endpoint that plays these turns."""
    opened: list[Programs] = []

    def begin(*turns: dict[str, Any]) -> Programs:
        opened.append(Programs(project, ScriptedServer(turns)))
        return opened[-1]

    yield begin
    for programs in opened:
        programs.close()
