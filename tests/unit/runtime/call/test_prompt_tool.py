"""An MCP tool that answers for the user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.program_servers import ProgramServers, configured, says
from tests.support.sessions import call, lines, open_session

from checkrein.llm.cancel import Cancel
from checkrein.passes.load import load
from checkrein.runtime.session.events import Event, ToolFinished

NAME = "mcp__guard__decide"


def played(
    tmp_path: Path, answer: Any, *, settings: dict[str, Any] | None = None, **options: Any
) -> tuple[ToolFinished, ProgramServers, list[Event]]:
    """A session whose model wants to write a file; returns how that ended."""
    program = ProgramServers(guard={"decide": answer if callable(answer) else says(json.dumps(answer))})
    project = load(tmp_path, mcp_config=[configured("guard")], settings=settings)
    wanted = call("Write", file_path=str(tmp_path / "a.txt"), content="x")
    chosen = {"prompt_tool": NAME, **options}
    with open_session(project, wanted, {"text": "done"}, **chosen) as session:
        session.control.exchange = program
        events = list(session.run("go"))
        assert chosen["prompt_tool"] not in session.conversation.host.tools.names()
    (done,) = [event for event in events if isinstance(event, ToolFinished)]
    return done, program, events


def test_it_gets_the_call_and_allows_it(tmp_path: Path) -> None:
    def answer(given: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        told = {"behavior": "allow", "updatedInput": {**given["input"], "content": "changed"}}
        return says(json.dumps(told))(given, cancel)

    done, program, _ = played(tmp_path, answer)
    assert not done.is_error
    assert (tmp_path / "a.txt").read_text() == "changed"
    asked = program.heard[-1][1]["params"]["arguments"]
    assert asked["tool_name"] == "Write"
    assert asked["tool_use_id"] == done.id
    assert asked["input"]["content"] == "x"


def test_without_an_updated_input_the_call_runs_as_it_is(tmp_path: Path) -> None:
    done, _, _ = played(tmp_path, {"behavior": "allow"})
    assert not done.is_error
    assert (tmp_path / "a.txt").read_text() == "x"


def test_it_denies_with_its_words_and_may_end_the_turn(tmp_path: Path) -> None:
    done, _, _ = played(tmp_path, {"behavior": "deny", "message": "not on Fridays"})
    assert done.refused
    assert "not on Fridays" in str(done.content)
    assert not (tmp_path / "a.txt").exists()
    _, _, events = played(tmp_path, {"behavior": "deny", "message": "no", "interrupt": True})
    assert sum(event.__class__.__name__ == "RequestSent" for event in events) == 1


@pytest.mark.parametrize(
    "answer",
    ["yes", "[]", "", '{"behavior": "maybe"}', '{"behavior": "allow", "updatedInput": 5}', "[" * 100_000],
)
def test_an_answer_of_another_form_is_a_refusal(tmp_path: Path, answer: str) -> None:
    done, _, _ = played(tmp_path, says(answer))
    assert done.refused
    assert not (tmp_path / "a.txt").exists()


def test_a_tool_that_fails_or_is_not_there_is_a_refusal(tmp_path: Path) -> None:
    done, _, _ = played(tmp_path, says("broken", isError=True))
    assert done.refused
    assert "broken" in str(done.content)
    done, _, _ = played(tmp_path, {"behavior": "allow"}, prompt_tool="mcp__guard__other")
    assert done.refused
    assert "no connected MCP server" in str(done.content)


@pytest.mark.parametrize("rule", ["deny", "ask"])
def test_rules_about_the_tool_itself_hold_and_nobody_asks_about_the_asking(tmp_path: Path, rule: str) -> None:
    settings = {"permissions": {rule: [NAME]}}
    done, program, _ = played(tmp_path, {"behavior": "allow"}, settings=settings)
    assert done.refused
    assert "tools/call" not in program.methods("guard")


def test_a_denied_call_is_never_asked_about(tmp_path: Path) -> None:
    settings = {"permissions": {"deny": ["Write"]}}
    project = load(tmp_path, mcp_config=[configured("guard")], settings=settings)
    program = ProgramServers(guard={"decide": says('{"behavior": "allow"}')})
    wanted = call("Write", file_path=str(tmp_path / "a.txt"), content="x")
    with open_session(project, wanted, {"text": "done"}, prompt_tool=NAME) as session:
        session.control.exchange = program
        list(session.run("go"))
    assert "tools/call" not in program.methods("guard")


def test_the_model_can_not_call_it(tmp_path: Path) -> None:
    program = ProgramServers(guard={"decide": says('{"behavior": "allow"}'), "other": says("fine")})
    project = load(tmp_path, mcp_config=[configured("guard")])
    replies = (call(NAME), call("mcp__guard__other"), {"text": "done"})
    with open_session(project, *replies, prompt_tool=NAME) as session:
        session.control.exchange = program
        found = [event for event in session.run("go") if isinstance(event, ToolFinished)]
        path = session.conversation.recorder.writer.path
    assert [one.is_error for one in found] == [True, False]
    names = [one[1]["params"]["name"] for one in program.heard if one[1]["method"] == "tools/call"]
    assert names == ["decide", "other"]
    marks = [line["checkrein"] for line in lines(path) if line["type"] == "checkrein"]
    assert [one["caller"] for one in marks if one["event"] == "call"] == ["asker"]
