"""Streams as real servers send them, beyond what the scripted endpoint does."""

import json
from typing import Any

import pytest

from checkrein.llm.anthropic import MessagesReader
from checkrein.llm.content import RedactedThinking, Text, Thinking, ToolUse
from checkrein.llm.openai_chat import ChatReader
from checkrein.llm.openai_responses import ResponsesReader
from checkrein.llm.port import (
    BlockCompleted,
    BlockStarted,
    Finished,
    ModelEvent,
    ModelRequestError,
    Reply,
    collect,
)
from checkrein.llm.sse import SseEvent
from checkrein.llm.stream import Reader


def feed(reader: Reader, *values: Any) -> list[ModelEvent]:
    events: list[ModelEvent] = []
    for value in values:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        events += reader.read(SseEvent("", data))
    if not reader.done:
        events += reader.end()
    return events


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(
    index: int | None, id: str | None = None, name: str | None = None, arguments: str = ""
) -> dict[str, Any]:
    value: dict[str, Any] = {"function": {"arguments": arguments} | ({"name": name} if name else {})}
    if index is not None:
        value["index"] = index
    if id is not None:
        value["id"] = id
    return value


def chat(*chunks: Any) -> Reply:
    events = feed(ChatReader(), *chunks)
    open_index = -1
    for event in events:
        if isinstance(event, BlockStarted):
            assert event.index == open_index + 1
            open_index = event.index
        elif isinstance(event, BlockCompleted):
            assert event.index == open_index
    return collect(events)


def test_chat_interleaved_calls() -> None:
    reply = chat(
        chunk(role="assistant", content=None),
        chunk(tool_calls=[call(0, "a", "A", '{"x"')]),
        chunk(tool_calls=[call(1, "b", "B", '{"y"')]),
        chunk(tool_calls=[call(0, arguments=":1}"), call(1, arguments=":2}")]),
        chunk("tool_calls"),
        b"[DONE]",
    )
    assert reply.content == (ToolUse("a", "A", {"x": 1}), ToolUse("b", "B", {"y": 2}))


def test_chat_call_is_complete_when_the_next_one_starts() -> None:
    reader = ChatReader()
    reader.read(SseEvent("", json.dumps(chunk(tool_calls=[call(0, "a", "A", "{}")])).encode()))
    events = reader.read(SseEvent("", json.dumps(chunk(tool_calls=[call(1, "b", "B")])).encode()))
    assert BlockCompleted(0, ToolUse("a", "A", {})) in events


@pytest.mark.parametrize("index", [0, None])
def test_chat_calls_under_one_index_or_none(index: int | None) -> None:
    reply = chat(
        chunk(tool_calls=[call(index, "a", "A", "{}")]),
        chunk(tool_calls=[call(index, "b", "B", '{"z": 3}')]),
        chunk("stop"),
        b"[DONE]",
    )
    assert reply.content == (ToolUse("a", "A", {}), ToolUse("b", "B", {"z": 3}))
    assert reply.stop_reason == "tool_use"


def test_chat_arguments_as_an_object_and_missing_id() -> None:
    value = call(0, name="A")
    value["function"]["arguments"] = {"q": 1}
    (use,) = chat(chunk(tool_calls=[value]), chunk("tool_calls"), b"[DONE]").tool_calls
    assert use.input == {"q": 1}
    assert use.id.startswith("call_")


def test_chat_without_done_line() -> None:
    assert chat(chunk(content="hi"), chunk("stop")).text == "hi"
    with pytest.raises(ModelRequestError):
        chat(chunk(content="hi"))


def test_chat_reasoning_then_text_then_call_then_text() -> None:
    reply = chat(
        chunk(reasoning="th"),
        chunk(reasoning_content="ink"),
        chunk(content="a"),
        chunk(tool_calls=[call(0, "c", "A", "{}")]),
        chunk(content="b"),
        chunk("stop"),
        b"[DONE]",
    )
    assert reply.content == (Thinking("think", ""), Text("a"), ToolUse("c", "A", {}), Text("b"))


def test_chat_refusal_and_error() -> None:
    assert chat(chunk(refusal="no"), chunk("stop"), b"[DONE]").stop_reason == "refusal"
    with pytest.raises(ModelRequestError) as caught:
        feed(ChatReader(), {"error": {"message": "busy", "code": 529, "type": "overloaded_error"}})
    assert caught.value.kind == "overloaded"


def test_chat_usage_of_other_servers() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "prompt_cache_hit_tokens": 6}
    reply = chat(chunk("stop", content="x"), {"choices": [], "usage": usage}, b"[DONE]")
    assert (reply.usage.input, reply.usage.cache_read, reply.usage.output) == (4, 6, 3)


def test_chat_done_without_anything_is_no_answer() -> None:
    assert feed(ChatReader(), b"[DONE]") == []


def message_start(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"id": "msg", "model": "m", "usage": usage}}


def test_messages_with_all_block_types() -> None:
    reader = MessagesReader()
    events = feed(
        reader,
        {"type": "ping"},
        message_start(input_tokens=5, cache_read_input_tokens=2, output_tokens=1),
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "redacted_thinking", "data": "zz"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "server_tool_use", "id": "s"}},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": "he"}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "y"}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "content_block_stop", "index": 2},
        {
            "type": "content_block_start",
            "index": 3,
            "content_block": {"type": "tool_use", "id": "t", "name": "A", "input": {"whole": 1}},
        },
        {"type": "content_block_stop", "index": 3},
        {"type": "something_new"},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "stop_sequence", "stop_sequence": "END"},
            "usage": {"output_tokens": 9, "input_tokens": None},
        },
        {"type": "message_stop"},
    )
    reply = collect(events)
    assert reply.content == (RedactedThinking("zz"), Text("hey"), ToolUse("t", "A", {"whole": 1}))
    assert (reply.stop_reason, reply.stop_sequence) == ("stop_sequence", "END")
    assert (reply.usage.input, reply.usage.cache_read, reply.usage.output) == (5, 2, 9)
    assert [e.index for e in events if isinstance(e, BlockStarted)] == [0, 1, 2]


def test_messages_error_event() -> None:
    with pytest.raises(ModelRequestError) as caught:
        feed(
            MessagesReader(),
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        )
    assert (caught.value.kind, caught.value.status) == ("overloaded", None)


@pytest.mark.parametrize("reader", [MessagesReader, ResponsesReader, ChatReader])
@pytest.mark.parametrize("data", [b"[1]", b"null", b"{", b"\xff"])
def test_events_that_are_no_objects(reader: Any, data: bytes) -> None:
    with pytest.raises(ModelRequestError) as caught:
        feed(reader(), data)
    assert caught.value.kind == "malformed_stream"


def test_responses_with_overlapping_items_and_no_deltas() -> None:
    def item(kind: str, index: int, **fields: Any) -> dict[str, Any]:
        return {"type": f"response.output_item.{kind}", "output_index": index, "item": fields}

    first = {"type": "function_call", "call_id": "a", "name": "A"}
    second = {"type": "function_call", "call_id": "b", "name": "B"}
    events = feed(
        ResponsesReader(),
        {"type": "response.created", "response": {"id": "r", "model": "m"}},
        item("added", 0, type="web_search_call", id="w"),
        item("done", 0, type="web_search_call", id="w"),
        item("added", 1, **first, arguments=""),
        item("added", 2, **second, arguments=""),
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"k"'},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": ":1}"},
        item("done", 2, **second, arguments='{"k":1}'),
        item("done", 1, **first, arguments='{"whole":true}'),
        {"type": "response.completed", "response": {"status": "completed", "usage": {"input_tokens": 4}}},
    )
    reply = collect(events)
    assert reply.content == (ToolUse("a", "A", {"whole": True}), ToolUse("b", "B", {"k": 1}))
    assert isinstance(events[-1], Finished)


def test_responses_reasoning_parts_and_refusal() -> None:
    events = feed(
        ResponsesReader(),
        {"type": "response.created", "response": {"id": "r", "model": "m"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs"}},
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "one"},
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "two"},
        {"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "id": "rs"}},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "message"}},
        {"type": "response.refusal.delta", "output_index": 1, "delta": "no"},
        {"type": "response.completed", "response": {"status": "completed"}},
    )
    reply = collect(events)
    assert reply.content == (Thinking("one\n\ntwo", ""), Text("no"))
    assert reply.stop_reason == "refusal"


def test_responses_failed() -> None:
    error = {"code": "server_error", "message": "broke"}
    with pytest.raises(ModelRequestError) as caught:
        feed(ResponsesReader(), {"type": "response.failed", "response": {"error": error}})
    assert (caught.value.kind, "broke" in caught.value.message) == ("server_error", True)
