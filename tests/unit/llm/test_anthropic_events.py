"""Our events as the Messages API's, and back through the adapter's reader."""

import json
from typing import Any

import pytest

from checkrein.llm.anthropic import MessagesReader
from checkrein.llm.anthropic_events import StreamEvents, message_object
from checkrein.llm.content import RedactedThinking, Text, Thinking, ToolUse
from checkrein.llm.port import (
    BlockCompleted,
    BlockStarted,
    Finished,
    ModelEvent,
    Started,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    Usage,
    UsageReport,
    collect,
)
from checkrein.llm.sse import SseEvent

USAGE = Usage(5, 9, 2, 3, 1)
EVENTS: list[ModelEvent] = [
    Started("msg", "m"),
    UsageReport(Usage(5, 0, 2, 3, 1)),
    BlockStarted(0, "redacted_thinking"),
    BlockCompleted(0, RedactedThinking("zz")),
    BlockStarted(1, "thinking"),
    ThinkingDelta(1, "hm"),
    BlockCompleted(1, Thinking("hm", "c2ln")),
    BlockStarted(2, "text"),
    TextDelta(2, "a"),
    TextDelta(2, "b"),
    BlockCompleted(2, Text("ab")),
    BlockStarted(3, "tool_use", "t", "Bash"),
    ToolCallDelta(3, '{"command":"ls"}'),
    BlockCompleted(3, ToolUse("t", "Bash", {"command": "ls"})),
    UsageReport(USAGE),
    Finished("tool_use", USAGE, "tool_use"),
]


def written(events: list[ModelEvent]) -> list[dict[str, Any]]:
    writer = StreamEvents()
    return [value for event in events for value in writer.write(event)]


def test_reading_back_gives_the_same_events() -> None:
    reader = MessagesReader()
    events = [
        event for value in written(EVENTS) for event in reader.read(SseEvent("", json.dumps(value).encode()))
    ]
    assert events == EVENTS


def test_order_of_the_api() -> None:
    kinds = [value["type"] for value in written(EVENTS)]
    assert kinds[:4] == ["message_start", "content_block_start", "content_block_stop", "content_block_start"]
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 4
    assert written(EVENTS)[0]["message"]["usage"]["input_tokens"] == 5


def test_start_is_written_even_when_no_usage_follows() -> None:
    values = written([Started("msg", "m"), BlockStarted(0, "text")])
    assert [value["type"] for value in values] == ["message_start", "content_block_start"]


@pytest.mark.parametrize(
    ("reason", "raw", "word"),
    [
        ("window_exceeded", "", "model_context_window_exceeded"),
        ("unknown", "odd", "odd"),
        ("end_turn", "stop", "end_turn"),
    ],
)
def test_stop_words(reason: Any, raw: str, word: str) -> None:
    end = Finished(reason, Usage(), raw)
    assert written([Started("x", "m"), end])[-2]["delta"]["stop_reason"] == word


def test_whole_message() -> None:
    value = message_object(collect(EVENTS))
    assert [block["type"] for block in value["content"]] == [
        "redacted_thinking",
        "thinking",
        "text",
        "tool_use",
    ]
    assert value["usage"]["cache_creation"] == {
        "ephemeral_5m_input_tokens": 2,
        "ephemeral_1h_input_tokens": 1,
    }
