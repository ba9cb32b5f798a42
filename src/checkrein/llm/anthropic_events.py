"""Our events as the stream events of the Messages API, for a mock endpoint and for clients that read them."""

from __future__ import annotations

from typing import Any

import msgspec

from checkrein.llm.content import RedactedThinking, Thinking
from checkrein.llm.port import (
    BlockCompleted,
    BlockStarted,
    Finished,
    Hit,
    ModelEvent,
    Reply,
    Searched,
    Started,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    Usage,
    UsageReport,
)

_SEARCH_INDEX = 1000


class StreamEvents:
    """Takes one response's events in order; returns the API's events, each with its `type` first."""

    def __init__(self) -> None:
        self._started: Started | None = None

    def write(self, event: ModelEvent) -> list[dict[str, Any]]:
        if isinstance(event, Started):
            self._started = event  # its usage comes with the next event
            return []
        head: list[dict[str, Any]] = []
        if self._started is not None:
            usage = event.usage if isinstance(event, UsageReport) else Usage()
            head.append(_message_start(self._started, usage))
            self._started = None
            if isinstance(event, UsageReport):
                return head
        return head + self._rest(event)

    def _rest(self, event: ModelEvent) -> list[dict[str, Any]]:
        match event:
            case BlockStarted(index=index):
                if event.kind == "redacted_thinking":
                    return []  # sent whole, when it is complete
                return [{"type": "content_block_start", "index": index, "content_block": _empty(event)}]
            case TextDelta(index=index):
                return [_delta(index, {"type": "text_delta", "text": event.text})]
            case ThinkingDelta(index=index):
                return [_delta(index, {"type": "thinking_delta", "thinking": event.text})]
            case ToolCallDelta(index=index):
                return [_delta(index, {"type": "input_json_delta", "partial_json": event.json})]
            case BlockCompleted(index=index, block=block):
                out: list[dict[str, Any]] = []
                if isinstance(block, Thinking) and block.signature:
                    out.append(_delta(index, {"type": "signature_delta", "signature": block.signature}))
                elif isinstance(block, RedactedThinking):
                    content = msgspec.to_builtins(block)
                    out.append({"type": "content_block_start", "index": index, "content_block": content})
                return [*out, {"type": "content_block_stop", "index": index}]
            case Searched(hits=hits):
                return _searched(hits)
            case Finished():
                ending = {"stop_reason": _stop_word(event), "stop_sequence": event.stop_sequence}
                return [
                    {"type": "message_delta", "delta": ending, "usage": _usage_object(event.usage)},
                    {"type": "message_stop"},
                ]
        return []


def message_object(reply: Reply) -> dict[str, Any]:
    """A whole response as the API's message."""
    return {
        "id": reply.id,
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [msgspec.to_builtins(block) for block in reply.content],
        "stop_reason": _stop_word(reply),
        "stop_sequence": reply.stop_sequence,
        "usage": _usage_object(reply.usage),
    }


def _usage_object(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_creation,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_creation - usage.cache_creation_1h,
            "ephemeral_1h_input_tokens": usage.cache_creation_1h,
        },
        "output_tokens": usage.output,
        **({"server_tool_use": {"web_search_requests": usage.searches}} if usage.searches else {}),
    }


def _stop_word(end: Finished | Reply) -> str:
    """The API's word for a stop reason."""
    if end.stop_reason == "window_exceeded":
        return "model_context_window_exceeded"
    return end.raw_stop_reason or "unknown" if end.stop_reason == "unknown" else end.stop_reason


def _message_start(started: Started, usage: Usage) -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": started.id,
        "type": "message",
        "role": "assistant",
        "model": started.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage_object(usage),
    }
    return {"type": "message_start", "message": message}


def _empty(event: BlockStarted) -> dict[str, Any]:
    if event.kind == "tool_use":
        return {"type": "tool_use", "id": event.id, "name": event.name, "input": {}}
    if event.kind == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "text", "text": ""}


def _searched(hits: tuple[Hit, ...]) -> list[dict[str, Any]]:
    """A search of the service: its call and its result are blocks of their own, which the port has no place
    for. Their indexes are out of the way of the others."""
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = [{"type": "web_search_result", "title": hit.title, "url": hit.url} for hit in hits]
    result = {"type": "web_search_tool_result", "tool_use_id": call["id"], "content": found}
    return [
        value
        for index, block in enumerate((call, result), _SEARCH_INDEX)
        for value in (
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_stop", "index": index},
        )
    ]


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}
