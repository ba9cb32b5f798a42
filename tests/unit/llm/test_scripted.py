"""The script itself, the model that plays it in-process, and that both ways of playing agree."""

import threading
import time
from typing import Any

import pytest

from checkrein.base.errors import ConfigError, FileError
from checkrein.llm.anthropic import AnthropicModel
from checkrein.llm.connection import Timeouts
from checkrein.llm.content import Message, ToolResult
from checkrein.llm.port import Cancel, Model, ModelRequestError, Request, SystemBlock, ToolSpec, collect, user
from checkrein.llm.script import Script
from checkrein.llm.scripted import ScriptedModel
from checkrein.llm.server import ScriptedServer


def asked(*messages: Message, **fields: Any) -> Request:
    return Request(model="m", messages=messages or (user("hello"),), max_tokens=10, **fields)


def test_jsonl_list_and_comments(tmp_path: Any) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text('# a comment\n{"text": "a"}\n\n{"text": "b", "repeat": 2}\n')
    assert [turn.text for turn in Script.load(file).turns] == ["a", "b"]
    assert [turn.text for turn in Script.parse('[{"text": "a"}, {}]').turns] == ["a", ""]


@pytest.mark.parametrize(
    "text", ['{"txt": "a"}', '{"text": 1}', "{", "[1]", '{"fault": {"x": 1}}', '{"usage": {"tokens": 1}}']
)
def test_mistakes_in_a_script(text: str) -> None:
    with pytest.raises(ConfigError):
        Script.parse(text, "s.jsonl")


def test_mistake_names_file_and_turn() -> None:
    with pytest.raises(ConfigError, match=r"s\.jsonl, turn 2: .*colour"):
        Script.parse('{"text": "a"}\n{"colour": "a"}', "s.jsonl")
    with pytest.raises(FileError, match="does not exist"):
        Script.load("/nowhere.jsonl")


def test_turns_come_in_order_and_end() -> None:
    model = ScriptedModel([{"text": "a", "repeat": 2}, {"text": "b"}])
    assert [collect(model.stream(asked(), Cancel())).text for _ in range(3)] == ["a", "a", "b"]
    assert model.script.finished
    with pytest.raises(ModelRequestError, match="no turn left for request 4") as caught:
        collect(model.stream(asked(), Cancel()))
    assert (caught.value.kind, caught.value.retryable) == ("script", False)


def test_when_chooses_among_turns() -> None:
    model = ScriptedModel(
        [{"text": "child", "when": {"system": "reviewer"}}, {"text": "one"}, {"text": "rest", "repeat": 0}]
    )
    child = asked(system=(SystemBlock("You are a reviewer."),))
    texts = [collect(model.stream(r, Cancel())).text for r in (asked(), child, asked(), child)]
    assert texts == ["one", "child", "rest", "rest"]


@pytest.mark.parametrize(
    ("match", "problem"),
    [
        ({"text": "hello"}, None),
        (
            {"text": "bye"},
            "last message should hold 'bye'\n--- script\n+++ request\n@@ -1 +1 @@\n-bye\n+hello",
        ),
        ({"tool_result": "x"}, "tool results"),
        ({"first_text": "hello", "messages": 1, "model": "m"}, None),
        ({"messages": 2}, "2 messages but there are 1"),
        ({"tools": ["Bash"]}, "'Bash' should be offered"),
        ({"system": "z"}, "system prompt"),
    ],
)
def test_expect(match: dict[str, Any], problem: str | None) -> None:
    model = ScriptedModel([{"text": "a", "expect": match}])
    if problem is None:
        assert collect(model.stream(asked(), Cancel())).text == "a"
        return
    with pytest.raises(ModelRequestError) as caught:
        collect(model.stream(asked(), Cancel()))
    assert problem in caught.value.message
    assert "turn 1" in caught.value.message


def test_expect_sees_tool_results_and_tools() -> None:
    model = ScriptedModel([{"text": "a", "expect": {"tool_result": "out", "tools": ["Bash"]}}])
    request = asked(user(ToolResult("c", "the output")), tools=(ToolSpec("Bash", "", {}),))
    assert collect(model.stream(request, Cancel())).text == "a"


TURNS: list[dict[str, Any]] = [
    {"text": "hello", "thinking": "hm", "chunk": 2, "tool_calls": [{"name": "A", "input": {"x": [1]}}]},
    {},
    {"tool_calls": [{"name": "A", "arguments": "{oops", "id": "mine"}]},
    {"text": "x", "stop_reason": "max_tokens", "usage": {"input": 5, "cache_read": 6}},
    {"text": "x", "stop_reason": "odd"},
    {"text": "é" * 30, "chunk": 7},
]


@pytest.mark.parametrize("turn", TURNS)
def test_both_ways_of_playing_give_the_same_events(turn: dict[str, Any]) -> None:
    with ScriptedServer([turn]) as server:
        wired = list(AnthropicModel(base_url=server.url, env={}).stream(asked(), Cancel()))
    assert list(ScriptedModel([turn]).stream(asked(), Cancel())) == wired


FAULTS: list[dict[str, Any]] = [
    {"status": 429, "retry_after": 3},
    {"status": 529},
    {"status": 400, "message": "prompt is too long: 9 tokens > 8 maximum"},
    {"cut": True, "after": 4},
    {"malformed": True},
    {"error": "overloaded_error", "after": 2},
    {"silent": 3.0, "after": 2},
]


@pytest.mark.parametrize("fault", FAULTS)
def test_both_ways_of_playing_fail_alike(fault: dict[str, Any]) -> None:
    turn = {"text": "hello", "chunk": 1, "fault": fault}
    found = []
    with ScriptedServer([turn]) as server:
        wired = AnthropicModel(base_url=server.url, env={}, timeouts=Timeouts(idle=0.2))
        models: list[Model] = [ScriptedModel([turn], idle=0.2), wired]
        for model in models:
            with pytest.raises(ModelRequestError) as caught:
                collect(model.stream(asked(), Cancel()))
            error = caught.value
            found.append((error.kind, error.retryable, error.retry_after, error.limits, error.completed))
    assert found[0] == found[1]


def test_cancel_during_a_delay() -> None:
    cancel = Cancel()
    threading.Timer(0.05, cancel.cancel).start()
    start = time.monotonic()
    with pytest.raises(ModelRequestError) as caught:
        collect(ScriptedModel([{"text": "x", "delay": 30}]).stream(asked(), cancel))
    assert caught.value.kind == "cancelled"
    assert time.monotonic() - start < 5


def test_requests_are_kept() -> None:
    model = ScriptedModel([{"text": "x"}])
    request = asked(user("what"))
    collect(model.stream(request, Cancel()))
    assert model.requests == [request]


def test_ids_and_usage_repeat_exactly() -> None:
    turns = [{"text": "abc", "tool_calls": [{"name": "A"}], "repeat": 3}]
    one, two = (
        [collect(m.stream(asked(), Cancel())) for _ in range(3)]
        for m in (ScriptedModel(turns), ScriptedModel(turns))
    )
    assert one == two
    assert len({reply.tool_calls[0].id for reply in one}) == 3
