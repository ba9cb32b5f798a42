"""The Chat Completions API, from the endpoint's side."""

from __future__ import annotations

from typing import Any

import msgspec

from checkrein.llm.bodies import encode_json
from checkrein.llm.content import (
    Base64,
    Block,
    Document,
    Image,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Url,
)
from checkrein.llm.port import (
    BlockStarted,
    Finished,
    ModelEvent,
    Reply,
    Request,
    Started,
    StopReason,
    SystemBlock,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolSpec,
    Usage,
)

_WORDS: dict[StopReason, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "window_exceeded": "length",
    "refusal": "content_filter",
}


def read_request(body: dict[str, Any]) -> Request:
    """The Request in this body. Raises ValueError when the body is not a request."""
    entries = body["messages"]
    system = tuple(
        SystemBlock(entry["content"]) for entry in entries if entry["role"] in ("system", "developer")
    )
    choice = body.get("tool_choice") or "auto"
    if isinstance(choice, dict):
        choice = choice["function"]["name"]
    schema = (body.get("response_format") or {}).get("json_schema") or {}
    return Request(
        model=body["model"],
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens") or 0,
        messages=_messages(entry for entry in entries if entry["role"] not in ("system", "developer")),
        system=system,
        tools=tuple(_tool(tool["function"]) for tool in body.get("tools") or []),
        temperature=body.get("temperature"),
        effort=body.get("reasoning_effort"),
        stop=tuple(body.get("stop") or ()),
        tool_choice="any" if choice == "required" else choice,
        parallel_tools=body.get("parallel_tool_calls", True),
        output_schema=schema.get("schema"),
        cache_key=body.get("prompt_cache_key"),
        user_id=body.get("user"),
    )


def write_stream(events: list[ModelEvent]) -> list[bytes]:
    """One entry per event; an entry may hold several server-sent events, or none."""
    writer = _Writer()
    return [writer.write(event) for event in events]


def write_whole(reply: Reply) -> bytes:
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {"name": block.name, "arguments": _arguments(block)},
        }
        for block in reply.tool_calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if thinking := "".join(block.thinking for block in reply.content if isinstance(block, Thinking)):
        message["reasoning_content"] = thinking
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _word(reply)}
    return encode_json(
        {
            "id": reply.id,
            "object": "chat.completion",
            "created": 0,
            "model": reply.model,
            "choices": [choice],
            "usage": _usage(reply.usage),
        }
    )


def write_error(body: bytes) -> bytes:
    return b"data: " + body + b"\n\n"


class _Writer:
    def __init__(self) -> None:
        self._base: dict[str, Any] = {}
        self._call = -1

    def write(self, event: ModelEvent) -> bytes:
        match event:
            case Started():
                self._base = {
                    "id": event.id,
                    "object": "chat.completion.chunk",
                    "created": 0,
                    "model": event.model,
                }
                return self._chunk({"role": "assistant", "content": ""})
            case TextDelta():
                return self._chunk({"content": event.text})
            case ThinkingDelta():
                return self._chunk({"reasoning_content": event.text})
            case BlockStarted(kind="tool_use"):
                self._call += 1
                function = {"name": event.name, "arguments": ""}
                call = {"index": self._call, "id": event.id, "type": "function", "function": function}
                return self._chunk({"tool_calls": [call]})
            case ToolCallDelta():
                return self._chunk(
                    {"tool_calls": [{"index": self._call, "function": {"arguments": event.json}}]}
                )
            case Finished():
                usage = _sse({**self._base, "choices": [], "usage": _usage(event.usage)})
                return self._chunk({}, _word(event)) + usage + b"data: [DONE]\n\n"
        return b""

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _sse({**self._base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _sse(value: dict[str, Any]) -> bytes:
    return b"data: " + encode_json(value) + b"\n\n"


def _word(end: Finished | Reply) -> str:
    return _WORDS.get(end.stop_reason) or end.raw_stop_reason


def _arguments(call: ToolUse) -> str:
    return call.broken if call.broken is not None else encode_json(call.input).decode()


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_creation,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _tool(function: dict[str, Any]) -> ToolSpec:
    return ToolSpec(function["name"], function.get("description") or "", function.get("parameters") or {})


def _messages(entries: Any) -> tuple[Message, ...]:
    """Tool messages and the user message after them become one of our messages."""
    messages: list[Message] = []
    results: list[Block] = []
    for entry in entries:
        if entry["role"] == "tool":
            results.append(ToolResult(entry["tool_call_id"], entry["content"]))
            continue
        content = _content(entry)
        if entry["role"] == "user":
            messages.append(Message("user", (*results, *content)))
            results = []
            continue
        if results:
            messages.append(Message("user", tuple(results)))
            results = []
        messages.append(Message("assistant", (*content, *map(_call, entry.get("tool_calls") or []))))
    if results:
        messages.append(Message("user", tuple(results)))
    return tuple(messages)


def _content(entry: dict[str, Any]) -> list[Block]:
    content = entry.get("content")
    if not content:
        return []
    return [Text(content)] if isinstance(content, str) else [_block(part) for part in content]


def _block(part: dict[str, Any]) -> Block:
    if part["type"] == "text":
        return Text(part["text"])
    if part["type"] == "image_url":
        return Image(source_of(part["image_url"]["url"]))
    return Document(source_of(part["file"]["file_data"]), part["file"].get("filename"))


def source_of(url: str) -> Base64 | Url:
    if not url.startswith("data:"):
        return Url(url)
    media_type, _, data = url.removeprefix("data:").partition(";base64,")
    return Base64(media_type, data)


def _call(call: dict[str, Any]) -> ToolUse:
    function = call["function"]
    return ToolUse(call["id"], function["name"], msgspec.json.decode(function["arguments"] or "{}"))
