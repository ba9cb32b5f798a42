"""A reply while it arrives, as the events of the Messages API, whatever wire it came over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from checkrein.llm.port import (
    BlockCompleted,
    BlockStarted,
    ModelEvent,
    RedactedThinking,
    Started,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolCallDelta,
    Usage,
)
from checkrein.llm.port import Finished as ReplyFinished

Frame = dict[str, Any]


def usage_fields(usage: Usage) -> Frame:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_creation,
    }


def message_start(event: Started, usage: Usage) -> Frame:
    message: Frame = {
        "id": event.id,
        "type": "message",
        "role": "assistant",
        "model": event.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage_fields(usage),
    }
    return {"type": "message_start", "message": message}


def raw_events(event: ModelEvent) -> Iterator[Frame]:
    """The other Messages API events for a model event."""
    match event:
        case BlockStarted():
            yield {"type": "content_block_start", "index": event.index, "content_block": _empty_block(event)}
        case TextDelta():
            yield _delta(event.index, {"type": "text_delta", "text": event.text})
        case ThinkingDelta():
            yield _delta(event.index, {"type": "thinking_delta", "thinking": event.text})
        case ToolCallDelta():
            yield _delta(event.index, {"type": "input_json_delta", "partial_json": event.json})
        case BlockCompleted():
            if isinstance(event.block, Thinking) and event.block.signature:
                yield _delta(event.index, {"type": "signature_delta", "signature": event.block.signature})
            yield {"type": "content_block_stop", "index": event.index}
        case ReplyFinished():
            delta = {"stop_reason": event.stop_reason, "stop_sequence": event.stop_sequence}
            yield {"type": "message_delta", "delta": delta, "usage": usage_fields(event.usage)}
            yield {"type": "message_stop"}


def _delta(index: int, delta: Frame) -> Frame:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _empty_block(event: BlockStarted) -> Frame:
    match event.kind:
        case "tool_use":
            return {"type": "tool_use", "id": event.id, "name": event.name, "input": {}}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "redacted_thinking":
            return msgspec.to_builtins(RedactedThinking(""))  # type: ignore[no-any-return]
    return {"type": "text", "text": ""}
