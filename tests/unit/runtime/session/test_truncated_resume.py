"""A resume at an earlier entry, in the same session or in a fork."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.sessions import open_session

from checkrein.base.errors import CheckreinError
from checkrein.llm.port import Text
from checkrein.runtime.session.events import AssistantBlock, PromptAccepted
from checkrein.runtime.session.session import Session
from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.store import SessionStore


class Past:
    """A session of three turns: the uuid of each prompt and of each last answer."""

    def __init__(self, tmp_path: Path) -> None:
        self.prompts: list[str] = []
        self.answers: list[str] = []
        with open_session(tmp_path, *({"text": f"answer {at}"} for at in (1, 2, 3))) as session:
            self.id = session.id
            for at in (1, 2, 3):
                for event in session.run(f"prompt {at}"):
                    if isinstance(event, PromptAccepted):
                        self.prompts.append(event.uuid)
                    elif isinstance(event, AssistantBlock):
                        self.answers.append(event.uuid)


def texts(session: Session) -> list[str]:
    found = [block for message in session.conversation.state.messages for block in message.content]
    return [block.text for block in found if isinstance(block, Text) and not block.text.startswith("<")]


def resumed(tmp_path: Path, past: Past, **options: Any) -> Session:
    return open_session(tmp_path, {"text": "new answer"}, resume=past.id, **options)


@pytest.mark.parametrize("fork", [False, True])
def test_what_comes_after_the_entry_is_gone(tmp_path: Path, fork: bool) -> None:
    past = Past(tmp_path)
    with resumed(tmp_path, past, resume_at=past.answers[0], fork=fork) as session:
        assert texts(session) == ["prompt 1", "answer 1"]
        list(session.run("other"))
        name = session.id
    assert (name != past.id) is fork
    with open_session(tmp_path, {"text": "x"}, resume=name) as session:
        assert texts(session) == ["prompt 1", "answer 1", "other", "new answer"]
    if fork:
        assert len(SessionStore().load(past.id, tmp_path).messages) >= 6


def test_an_entry_that_is_not_there(tmp_path: Path) -> None:
    past = Past(tmp_path)
    with pytest.raises(CheckreinError, match="has no entry nowhere"):
        resumed(tmp_path, past, resume_at="nowhere")


def test_it_needs_a_session(tmp_path: Path) -> None:
    with pytest.raises(CheckreinError, match="need a session to resume"):
        open_session(tmp_path, resume_at="x")
    past = Past(tmp_path)
    with pytest.raises(CheckreinError, match="needs --resume-session-at"):
        resumed(tmp_path, past, drops_turn=past.prompts[2])


@pytest.mark.parametrize("fork", [False, True])
def test_one_turn_may_be_dropped(tmp_path: Path, fork: bool) -> None:
    past = Past(tmp_path)
    named = {"resume_at": past.answers[1], "drops_turn": past.prompts[2], "fork": fork}
    with resumed(tmp_path, past, **named) as session:
        assert texts(session)[-1] == "answer 2"


@pytest.mark.parametrize(
    ("at", "turn", "why"),
    [
        ("answers[0]", "prompts[1]", "another prompt"),
        ("answers[0]", "prompts[2]", "another prompt"),
        ("prompts[1]", "prompts[2]", "the end of the turn before"),
        ("answers[2]", "prompts[2]", "is not among the 0 entries"),
        ("answers[1]", "nowhere", "another prompt"),
    ],
)
def test_nothing_else_is_dropped_with_it(tmp_path: Path, at: str, turn: str, why: str) -> None:
    past = Past(tmp_path)

    def found(name: str) -> str:
        kind, _, place = name.partition("[")
        return str(getattr(past, kind)[int(place[:-1])]) if place else name

    before = SessionStore().find(past.id, tmp_path).read_bytes()
    with pytest.raises(CheckreinError, match=f"Resume rejected by --resume-drops-turn: .*{why}"):
        resumed(tmp_path, past, resume_at=found(at), drops_turn=found(turn))
    assert SessionStore().find(past.id, tmp_path).read_bytes() == before


def test_news_that_the_caller_has_not_seen_is_not_dropped(tmp_path: Path) -> None:
    seen: list[Any] = []
    with open_session(tmp_path, {"text": "one"}, {"text": "two"}, {"text": "three"}) as session:
        seen += session.run("prompt 1")
        seen += session.run("prompt 2")
        seen += session.run(Wake(text="A task has ended.", source="task"))
        name = session.id
    prompts = [event.uuid for event in seen if isinstance(event, PromptAccepted)]
    answers = [event.uuid for event in seen if isinstance(event, AssistantBlock)]
    with pytest.raises(CheckreinError, match="news from outside, task"):
        open_session(tmp_path, resume=name, resume_at=answers[0], drops_turn=prompts[1])
