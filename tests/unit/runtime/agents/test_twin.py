"""Forks: what a fork sends begins with the bytes of its parent, and its parent's rules bind it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from checkrein.llm.port import Message, Text, ToolResult, ToolUse, user
from checkrein.runtime.agents.twin import past
from checkrein.runtime.session.events import ToolFinished
from support.agents import files, lived, order, orders
from support.sessions import call

FORKS = {"CLAUDE_CODE_FORK_SUBAGENT": "1", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
SPLIT = orders(order("the part", "fork", run_in_background=False))
PROJECT = pytest.mark.project(
    files() | {".claude/settings.json": '{"permissions": {"allow": ["Bash"], "deny": ["Bash(rm *)"]}}'}
)


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


def played(sessions: Any, *fork: dict[str, Any], env: dict[str, str] = FORKS) -> tuple[Any, list[Any]]:
    replies = [{**one, "when": {"text": "the part"} | one.get("when", {})} for one in fork]
    session = sessions(call("Bash", command="echo one"), SPLIT, *replies, {"text": "done"}, env=env)
    return session, lived(session)


@PROJECT
def test_the_requests_of_a_fork_begin_with_those_of_its_parent(sessions: Any) -> None:
    session, _ = played(sessions, {"text": "the report"})
    first, before, forked, after = session.conversation.models.model.requests
    for one in (first, forked, after):
        assert encoded(one.system) == encoded(before.system)
        assert encoded(one.tools) == encoded(before.tools)
    assert encoded(forked.messages[: len(before.messages)]) == encoded(before.messages)
    assert forked.messages[-1].content[-1] == Text("the part")
    assert session.result.text == "done"


@PROJECT
def test_the_rules_of_the_parent_bind_a_fork(sessions: Any) -> None:
    tried = {"tool_calls": [{"name": "Bash", "input": {"command": "rm -rf x"}}]}
    _, events = played(sessions, tried, {"text": "no", "when": {"text": None, "tool_result": "denied"}})
    (refused,) = [one for one in events if isinstance(one, ToolFinished) and one.refused]
    assert refused.agent_id is not None
    assert refused.rule == "Bash(rm *)"


@PROJECT
def test_a_fork_does_not_fork(sessions: Any) -> None:
    again = {"text": "no", "when": {"text": None, "tool_result": "can't be forked"}}
    session, _ = played(sessions, SPLIT, again)
    assert session.result.text == "done"


@PROJECT
@pytest.mark.parametrize("value", ["0", None])
def test_without_the_variable_a_program_has_no_forks(sessions: Any, value: str | None) -> None:
    env = {name: one for name, one in FORKS.items() if name != "CLAUDE_CODE_FORK_SUBAGENT"}
    if value is not None:
        env["CLAUDE_CODE_FORK_SUBAGENT"] = value
    session = sessions(SPLIT, {"text": "done", "expect": {"tool_result": "can't be forked"}}, env=env)
    lived(session)
    assert session.result.text == "done"


@pytest.mark.project(files() | {".claude/settings.json": '{"permissions": {"deny": ["Agent(fork)"]}}'})
def test_a_rule_can_deny_forks(sessions: Any) -> None:
    session = sessions(SPLIT, {"text": "done", "expect": {"tool_result": "Agent(fork)"}}, env=FORKS)
    lived(session)
    assert session.result.text == "done"


def test_every_open_call_has_a_result() -> None:
    calls = (ToolUse("a", "Agent", {}), ToolUse("b", "Bash", {}))
    found = past([user("go"), Message("assistant", calls)], "a")
    results = [block for block in found[-1].content if isinstance(block, ToolResult)]
    assert [one.tool_use_id for one in results] == ["a", "b"]
    assert "You are the fork" in str(results[0].content)
    assert "You are the fork" not in str(results[1].content)
    assert past([], "a") == []
