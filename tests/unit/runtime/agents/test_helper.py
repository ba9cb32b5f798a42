"""The helper of an agent hook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import ModelError
from checkrein.llm.port import Cancel
from checkrein.runtime.agents.helper import HELPER_REQUESTS, READING_TOOLS, run_helper
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.session.events import Event, Finished, SessionStarted, ToolFinished
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel
from support.sessions import call, locks

Helped = tuple[str, list[Event]]


def helped(session: Session, cancel: Cancel | None = None, model: str | None = None) -> Helped:
    told: list[Event] = []
    text = run_helper(session, "Is it fine?", model, "call_7", cancel or Cancel(), told.append)
    return text, told


def requests(session: Session) -> Any:
    model = session.conversation.models.model
    assert isinstance(model, ScriptedModel)
    return model.requests


def test_it_answers_with_its_last_message(sessions: Any, project: Path) -> None:
    (project / "a.txt").write_text("alpha")
    session = sessions(call("Read", file_path="a.txt"), {"text": "yes"})
    text, told = helped(session)
    assert text == "yes"
    assert not any(isinstance(event, SessionStarted | Finished) for event in told)
    assert {event.parent_call for event in told} == {"call_7"}
    assert len({event.agent_id for event in told}) == 1
    assert "alpha" in next(event.content for event in told if isinstance(event, ToolFinished))


def test_it_may_only_read(sessions: Any) -> None:
    session = sessions({"text": "yes"}, allowed=("Bash", "Write"))
    helped(session)
    assert {tool.name for tool in requests(session)[0].tools} == set(READING_TOOLS)


@pytest.mark.parametrize("name", ["Bash", "Write", "Skill", "ToolSearch", "mcp__x__y"])
def test_other_tools_are_not_there(sessions: Any, project: Path, name: str) -> None:
    session = sessions(
        call(name, command="touch x", file_path="x", content="x"), {"text": "no"}, allowed=("Bash", "Write")
    )
    _, told = helped(session)
    finished = next(event for event in told if isinstance(event, ToolFinished))
    assert "There is no tool" in finished.content
    assert not (project / "x").exists()


def test_the_rules_of_its_parent_bind_it(sessions: Any, project: Path) -> None:
    (project / "secret").write_text("marigold")
    session = sessions(
        call("Read", file_path="secret"),
        call("Grep", pattern="mari", output_mode="content"),
        {"text": "no"},
        disallowed=("Read(secret)",),
    )
    _, told = helped(session)
    contents = [event.content for event in told if isinstance(event, ToolFinished)]
    assert "Read(secret)" in contents[0]
    assert not any("marigold" in content for content in contents)


@pytest.mark.project({"CLAUDE.md": "THE RULES\n", ".claude/skills/s/SKILL.md": "---\ndescription: d\n---\n"})
def test_it_is_told_nothing_of_the_project(sessions: Any) -> None:
    session = sessions({"text": "yes"})
    helped(session)
    (message,) = requests(session)[0].messages
    assert message.content[-1].text == "Is it fine?"
    assert not any("THE RULES" in block.text or "SKILL" in block.text for block in message.content)


@pytest.mark.parametrize(
    ("replies", "words"),
    [([{"fault": {"status": 400, "message": "no such thing"}}], "no such thing"), ([], "script")],
)
def test_without_an_answer_it_fails(sessions: Any, replies: list[dict[str, Any]], words: str) -> None:
    session = sessions(*replies)
    with pytest.raises(ModelError, match=words):
        helped(session)
    assert len(locks()) == 1, "the child is closed all the same"


def test_it_gives_up_after_so_many_requests(sessions: Any) -> None:
    session = sessions(*(call("Glob", pattern=f"*{number}") for number in range(HELPER_REQUESTS + 1)))
    with pytest.raises(ModelError):
        helped(session)
    assert len(requests(session)) == HELPER_REQUESTS


def test_the_parents_budget_counts(sessions: Any) -> None:
    session = sessions(
        {**call("Glob", pattern="*"), "repeat": 0, "usage": {"input": 100}}, budget=Budget(tokens=250)
    )
    with pytest.raises(ModelError):
        helped(session)
    assert len(requests(session)) == 3
    assert session.conversation.meter.usage.input == 300


def test_an_interruption_reaches_it(sessions: Any) -> None:
    cancel = Cancel()
    session = sessions({"text": "late", "delay": 30})
    told: list[Event] = []

    def hear(event: Event) -> None:
        told.append(event)
        cancel.cancel()

    with pytest.raises(ModelError):
        run_helper(session, "Is it fine?", None, "call_7", cancel, hear)
    assert len(locks()) == 1


def test_one_that_was_interrupted_before_asks_nothing(sessions: Any) -> None:
    cancel = Cancel()
    cancel.cancel()
    session = sessions({"text": "late"})
    with pytest.raises(ModelError):
        helped(session, cancel)
    assert requests(session) == []
