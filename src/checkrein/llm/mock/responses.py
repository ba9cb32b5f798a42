"""The Responses API, from the endpoint's side."""

from __future__ import annotations

from typing import Any

import msgspec

from checkrein.llm.bodies import encode_json
from checkrein.llm.content import (
    Block,
    Document,
    Image,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from checkrein.llm.mock.chat import source_of
from checkrein.llm.openai_responses_body import SIGNATURE
from checkrein.llm.port import (
    BlockCompleted,
    BlockStarted,
    Finished,
    ModelEvent,
    Reply,
    Request,
    Role,
    Search,
    Searched,
    Started,
    SystemBlock,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolSpec,
    Usage,
)

_REASONS = {
    "max_tokens": "max_output_tokens",
    "window_exceeded": "max_output_tokens",
    "refusal": "content_filter",
}


def read_request(body: dict[str, Any]) -> Request:
    """The Request in this body. Raises ValueError when the body is not a request."""
    choice = body.get("tool_choice") or "auto"
    if isinstance(choice, dict):
        choice = choice["name"]
    instructions = body.get("instructions")
    reasoning = body.get("reasoning")
    effort = (reasoning or {}).get("effort")
    return Request(
        model=body["model"],
        max_tokens=body.get("max_output_tokens") or 0,
        messages=_messages(body["input"]),
        system=(SystemBlock(instructions),) if instructions else (),
        tools=tuple(
            ToolSpec(tool["name"], tool.get("description") or "", tool.get("parameters") or {})
            for tool in body.get("tools") or []
            if tool["type"] != "web_search"
        ),
        search=_search(body),
        temperature=body.get("temperature"),
        thinking="adaptive" if reasoning is not None and effort is None else None,
        effort=effort,
        tool_choice="any" if choice == "required" else choice,
        parallel_tools=body.get("parallel_tool_calls", True),
        output_schema=((body.get("text") or {}).get("format") or {}).get("schema"),
        cache_key=body.get("prompt_cache_key"),
        user_id=body.get("safety_identifier"),
    )


def _search(body: dict[str, Any]) -> Search | None:
    for tool in body.get("tools") or []:
        if tool["type"] == "web_search":
            allowed = (tool.get("filters") or {}).get("allowed_domains") or ()
            return Search(body["max_tool_calls"], tuple(allowed))
    return None


def write_stream(events: list[ModelEvent]) -> list[bytes]:
    """One entry per event; an entry may hold several server-sent events, or none."""
    writer = _Writer()
    return [writer.write(event) for event in events]


def write_whole(reply: Reply) -> bytes:
    items = [_item(block, index) for index, block in enumerate(reply.content)]
    return encode_json(_response(reply.id, reply.model, items, reply))


def write_error(body: bytes) -> bytes:
    return b"event: error\ndata: " + body + b"\n\n"


class _Writer:
    def __init__(self) -> None:
        self._started = Started("", "")
        self._number = -1
        self._items: list[dict[str, Any]] = []

    def write(self, event: ModelEvent) -> bytes:
        match event:
            case Started():
                self._started = event
                response = _response(event.id, event.model, [], None)
                return self._sse("response.created", response=response)
            case BlockStarted(index=index):
                added = self._sse("response.output_item.added", output_index=index, item=_empty(event))
                if event.kind == "tool_use":
                    return added
                place, part = _place(index, event.kind), _part_of("", event.kind)
                return added + self._sse(f"{_part_name(event.kind)}.added", **place, part=part)
            case TextDelta(index=index):
                return self._sse("response.output_text.delta", **_place(index, "text"), delta=event.text)
            case ThinkingDelta(index=index):
                place = _place(index, "thinking")
                return self._sse("response.reasoning_summary_text.delta", **place, delta=event.text)
            case ToolCallDelta(index=index):
                place = _place(index, "tool_use")
                return self._sse("response.function_call_arguments.delta", **place, delta=event.json)
            case BlockCompleted(index=index, block=block):
                self._items.append(_item(block, index))
                done = self._done(index, block)
                return done + self._sse("response.output_item.done", output_index=index, item=self._items[-1])
            case Searched(hits=hits):
                sources = [{"type": "url", "url": hit.url, "title": hit.title} for hit in hits]
                item = {"type": "web_search_call", "id": "ws_1", "action": {"sources": sources}}
                return self._sse("response.output_item.done", output_index=1000, item=item)
            case Finished():
                response = _response(self._started.id, self._started.model, self._items, event)
                return self._sse(f"response.{response['status']}", response=response)
        return b""

    def _done(self, index: int, block: Text | Thinking | RedactedThinking | ToolUse) -> bytes:
        """The events that repeat a part's whole content before its item is done."""
        if isinstance(block, ToolUse):
            name, arguments = "response.function_call_arguments.done", self._items[-1]["arguments"]
            return self._sse(name, **_place(index, "tool_use"), name=block.name, arguments=arguments)
        kind = "text" if isinstance(block, Text) else "thinking"
        text = (
            block.text if isinstance(block, Text) else block.thinking if isinstance(block, Thinking) else ""
        )
        name = "response.output_text.done" if kind == "text" else "response.reasoning_summary_text.done"
        place = _place(index, kind)
        whole = self._sse(name, **place, text=text)
        return whole + self._sse(f"{_part_name(kind)}.done", **place, part=_part_of(text, kind))

    def _sse(self, type: str, **fields: Any) -> bytes:
        self._number += 1
        value = {"type": type, "sequence_number": self._number, **fields}
        return b"event: " + type.encode() + b"\ndata: " + encode_json(value) + b"\n\n"


def _place(index: int, kind: str) -> dict[str, Any]:
    if kind == "text":
        return {"item_id": f"msg_{index}", "output_index": index, "content_index": 0}
    if kind == "tool_use":
        return {"item_id": f"fc_{index}", "output_index": index}
    return {"item_id": f"rs_{index}", "output_index": index, "summary_index": 0}


def _part_name(kind: str) -> str:
    return "response.content_part" if kind == "text" else "response.reasoning_summary_part"


def _part_of(text: str, kind: str) -> dict[str, Any]:
    if kind == "text":
        return {"type": "output_text", "text": text, "annotations": []}
    return {"type": "summary_text", "text": text}


def _response(
    id: str, model: str, items: list[dict[str, Any]], end: Finished | Reply | None
) -> dict[str, Any]:
    response: dict[str, Any] = {
        "id": id,
        "object": "response",
        "created_at": 0,
        "model": model,
        "output": items,
    }
    if end is None:
        return {**response, "status": "in_progress", "usage": None, "error": None, "incomplete_details": None}
    whole = end.stop_reason in ("end_turn", "tool_use", "stop_sequence", "pause_turn")
    reason = None if whole else {"reason": _REASONS.get(end.stop_reason, end.raw_stop_reason)}
    return {
        **response,
        "status": "completed" if whole else "incomplete",
        "usage": _usage(end.usage),
        "error": None,
        "incomplete_details": reason,
    }


def _empty(event: BlockStarted) -> dict[str, Any]:
    if event.kind == "tool_use":
        call = {"call_id": event.id, "name": event.name, "arguments": "", "status": "in_progress"}
        return {"type": "function_call", "id": f"fc_{event.index}", **call}
    if event.kind == "text":
        state = {"role": "assistant", "status": "in_progress", "content": []}
        return {"type": "message", "id": f"msg_{event.index}", **state}
    return {"type": "reasoning", "id": f"rs_{event.index}", "summary": []}


def _item(block: Text | Thinking | RedactedThinking | ToolUse, index: int) -> dict[str, Any]:
    if isinstance(block, ToolUse):
        arguments = block.broken if block.broken is not None else encode_json(block.input).decode()
        call = {"call_id": block.id, "name": block.name, "arguments": arguments, "status": "completed"}
        return {"type": "function_call", "id": f"fc_{index}", **call}
    if isinstance(block, Text):
        state = {"role": "assistant", "status": "completed", "content": [_part_of(block.text, "text")]}
        return {"type": "message", "id": f"msg_{index}", **state}
    thinking, secret = (
        ("", block.data) if isinstance(block, RedactedThinking) else (block.thinking, block.signature)
    )
    summary = [_part_of(thinking, "thinking")] if thinking else []
    return {"type": "reasoning", "id": f"rs_{index}", "summary": summary, "encrypted_content": secret}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_creation,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }


def _messages(items: str | list[dict[str, Any]]) -> tuple[Message, ...]:
    """Consecutive items of one side become one of our messages."""
    if isinstance(items, str):
        return (Message("user", (Text(items),)),)
    messages: list[Message] = []
    for item in items:
        role, blocks = _blocks(item)
        if messages and messages[-1].role == role:
            blocks = (*messages.pop().content, *blocks)
        messages.append(Message(role, blocks))
    return tuple(messages)


def _blocks(item: dict[str, Any]) -> tuple[Role, tuple[Block, ...]]:
    match item.get("type", "message"):
        case "function_call":
            arguments = msgspec.json.decode(item["arguments"] or "{}")
            return "assistant", (ToolUse(item["call_id"], item["name"], arguments),)
        case "reasoning":
            text = "".join(part["text"] for part in item["summary"])
            return "assistant", (Thinking(text, f"{SIGNATURE}{item['id']}:{item['encrypted_content']}"),)
        case "function_call_output":
            output = item["output"]
            content = output if isinstance(output, str) else tuple(_part(part) for part in output)
            return "user", (ToolResult(item["call_id"], content),)
    content = item["content"]
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    return ("assistant" if item["role"] == "assistant" else "user"), tuple(_part(part) for part in parts)


def _part(part: dict[str, Any]) -> Text | Image | Document:
    if part["type"] == "input_image":
        return Image(source_of(part["image_url"]))
    if part["type"] == "input_file":
        return Document(source_of(part.get("file_data") or part["file_url"]), part.get("filename"))
    return Text(part["text"])
