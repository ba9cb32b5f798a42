"""Tasks in the background as frames, and whose words are shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checkrein.llm.port import Text, ToolUse, Usage
from checkrein.protocol.stream_json import FrameOptions, Frames
from checkrein.runtime.session.events import (
    AssistantBlock,
    BackgroundEnded,
    BackgroundStarted,
    Event,
    SessionStarted,
    ToolFinished,
)

BEGAN = BackgroundStarted("a1", "toolu_1", "look", kind="local_agent", agent_type="helper", prompt="p")
ENDED = BackgroundEnded(
    id="a1", call_id="toolu_1", status="completed", summary="s", path="/p", duration_ms=5, kind="local_agent"
)


def said(agent: str | None, block: Any) -> AssistantBlock:
    usage = Usage(input=7, output=3)
    return AssistantBlock("u", "m", "model", block, usage, True, agent_id=agent, parent_call="toolu_1")


def called(agent: str | None, **more: Any) -> ToolFinished:
    return ToolFinished(id="toolu_9", name="Read", input={}, uuid="u", content="c", agent_id=agent, **more)


def frames(*events: Event, **options: Any) -> list[dict[str, Any]]:
    made = Frames(FrameOptions(**options))
    return [frame for event in events for frame in made.of(event)]


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [str(one.get("subtype") or one["type"]) for one in found]


def test_each_call_of_a_background_agent_is_progress() -> None:
    found = frames(BEGAN, said("a1", ToolUse("toolu_9", "Read", {})), called("a1"), called("a1"), ENDED)
    (first, second) = [one for one in found if one.get("subtype") == "task_progress"]
    assert (first["task_id"], first["tool_use_id"], first["description"]) == ("a1", "toolu_1", "look")
    assert (first["subagent_type"], first["last_tool_name"]) == ("helper", "Read")
    assert (first["usage"]["total_tokens"], first["usage"]["tool_uses"]) == (10, 1)
    assert second["usage"]["tool_uses"] == 2
    assert kinds(found)[-3:] == ["task_updated", "task_notification", "background_tasks_changed"]
    assert found[-1]["tasks"] == []


def test_calls_of_others_are_no_progress() -> None:
    found = frames(
        called("a2"), called(None), BEGAN, called("a2"), called("a1", caller="hook"), ENDED, called("a1")
    )
    assert "task_progress" not in kinds(found)


@pytest.mark.parametrize(("wanted", "shown"), [(True, 3), (False, 1)])
def test_words_of_an_agent_that_is_waited_for_are_shown_on_request(wanted: bool, shown: int) -> None:
    blocks = (said("a2", Text("words")), said("a2", ToolUse("toolu_2", "Read", {})), said("a2", Text("more")))
    found = frames(*blocks, subagent_text=wanted)
    assert len(found) == shown
    assert all(one["parent_tool_use_id"] == "toolu_1" for one in found)


def test_words_of_the_conversation_and_of_background_agents_are_always_shown() -> None:
    assert kinds(frames(said(None, Text("x")), BEGAN, said("a1", Text("x")))).count("assistant") == 2


@pytest.mark.parametrize(
    ("event", "meta"),
    [
        (
            called(None, by="asker"),
            {"permission_decision": {"decision": "accept", "source": "user_temporary"}},
        ),
        (
            called(None, by="rule"),
            {"permission_decision": {"decision": "accept", "source": "config", "reason_type": "rule"}},
        ),
        (
            called(None, by="hook", refused=True),
            {
                "non_execution_kind": "permission-rule",
                "permission_decision": {"decision": "reject", "source": "hook", "reason_type": "hook"},
            },
        ),
        (
            called(None, by="asker", refused=True),
            {
                "non_execution_kind": "permission-rule",
                "permission_decision": {"decision": "reject", "source": "user_reject"},
            },
        ),
    ],
)
def test_a_result_says_who_decided(event: ToolFinished, meta: dict[str, Any]) -> None:
    (frame,) = frames(event)
    assert frame["tool_result_meta"] == [{"id": "toolu_9", **meta}]


def test_a_call_that_was_never_judged_says_nothing() -> None:
    (frame,) = frames(called(None))
    assert "tool_result_meta" not in frame


def test_features_of_the_service_are_in_the_first_frame() -> None:
    started = SessionStarted(session_id="s", cwd="/", model="m", mode="default", tools=(), betas=("x-1",))
    (init,) = frames(started)
    assert init["betas"] == ["x-1"]


def test_a_host_gets_lines_that_it_can_read() -> None:
    structured = {"originalFile": "x" * 3_000_000, "structuredPatch": [{"lines": ["y" * 300_000]}], "n": 1}
    event = called(None, structured=structured)
    (frame,) = frames(event, hosted=True)
    assert len(json.dumps(frame)) < 1 << 20
    assert frame["tool_use_result"]["originalFile"].endswith("[2800000 characters more]")
    (frame,) = frames(event)
    assert frame["tool_use_result"] == structured
