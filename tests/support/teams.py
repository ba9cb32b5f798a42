"""Teams with a scripted model: a lead's prompt, and the turns that follow by themselves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from checkrein.llm.port import Request, Text
from checkrein.runtime.session.events import Event, ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.session.wakes import Wake
from checkrein.testing import ScriptedModel


def says(who: str, text: str = "", /, *calls: tuple[str, dict[str, Any]], **when: Any) -> dict[str, Any]:
    """A reply of one member: of the lead, or of a teammate by its name."""
    mark = "The types of agents" if who == "lead" else f"You are {who}, a teammate"
    turn = {"text": text, "tool_calls": [{"name": name, "input": input} for name, input in calls]}
    return {**turn, "when": {"first_text": mark, **when}}


def starts(name: str, prompt: str = "work", **more: Any) -> tuple[str, dict[str, Any]]:
    return "Agent", {"description": "a job", "prompt": prompt, "name": name, "team_name": "crew", **more}


def tells(to: str, message: str) -> tuple[str, dict[str, Any]]:
    return "SendMessage", {"to": to, "message": message}


class Team:
    """`seen` are the events of the lead and of everybody below it."""

    def __init__(self, session: Session, model: ScriptedModel) -> None:
        self.session = session
        self.model = model
        self.seen: list[Event] = []

    def run(self, prompt: str | Wake = "go", seconds: float = 20) -> None:
        """As a run with a single prompt does: until nobody works and every message is read."""
        until = time.monotonic() + seconds
        following: str | Wake | None = prompt
        wakes = self.session.control.wakes
        while following is not None:
            self.seen += self.session.run(following)
            following = None
            while following is None and wakes.awaited:
                assert time.monotonic() < until, "the team does not come to rest"
                following = wakes.next()
                if following is None:
                    self.seen += self.session.idle_events()
                    wakes.wait(0.05)

    def requests(self, who: str) -> list[Request]:
        mark = "The types of agents" if who == "lead" else f"You are {who}, a teammate"
        return [one for one in self.model.requests if mark in _text(one, first=True)]

    def read_by(self, who: str) -> str:
        """Everything that a member has been told, with what it said itself."""
        return _text(self.requests(who)[-1])

    def answers(self, tool: str) -> list[str]:
        return [str(one.content) for one in self.seen if isinstance(one, ToolFinished) and one.name == tool]

    def tasks(self) -> dict[str, Any]:
        board = self.session.conversation.desk.tasks
        assert board is not None
        return {id: (task.status, task.owner) for id, task in board.read().tasks.items()}


@contextmanager
def team(
    project: Path, *replies: dict[str, Any], env: dict[str, str] | None = None, **more: Any
) -> Iterator[Team]:
    model = ScriptedModel(replies)
    options = Options(**{"trust": True, "mode": "bypassPermissions", "allow_bypass": True, **more})
    with Session(project, model=model, options=options, env=env) as session:
        yield Team(session, model)


def _text(request: Request, *, first: bool = False) -> str:
    messages = request.messages[:1] if first else request.messages
    found = []
    for message in messages:
        for block in message.content:
            found.append(block.text if isinstance(block, Text) else str(getattr(block, "content", "")))
    return "\n".join(found)
