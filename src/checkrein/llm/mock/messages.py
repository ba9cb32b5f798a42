"""The Messages API, from the endpoint's side."""

from __future__ import annotations

from typing import Any

import msgspec

from checkrein.llm.anthropic_body import SEARCH
from checkrein.llm.anthropic_events import StreamEvents, message_object
from checkrein.llm.bodies import encode_json
from checkrein.llm.content import Block, Message, Text, ToolResult
from checkrein.llm.port import CacheMark, ModelEvent, Reply, Request, Search, SystemBlock, ToolSpec


def read_request(body: dict[str, Any]) -> Request:
    """The Request in this body. Raises ValueError when the body is not a request."""
    marks: list[CacheMark] = []
    for section in ("tools", "system", "messages"):
        entries = body.get(section)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            blocks = (
                entry["content"] if section == "messages" and isinstance(entry["content"], list) else [entry]
            )
            marks += [_mark(section, index, block) for block in blocks if "cache_control" in block]
    output = body.get("output_config") or {}
    choice = body.get("tool_choice") or {"type": "auto"}
    return Request(
        model=body["model"],
        max_tokens=body["max_tokens"],
        messages=tuple(_message(entry) for entry in body["messages"]),
        system=_system(body.get("system") or []),
        tools=tuple(
            ToolSpec(tool["name"], tool.get("description") or "", tool.get("input_schema") or {})
            for tool in body.get("tools") or []
            if tool.get("type") != SEARCH
        ),
        search=_search(body.get("tools") or []),
        temperature=body.get("temperature"),
        thinking=_thinking(body.get("thinking")),
        thinking_display=(body.get("thinking") or {}).get("display"),
        effort=output.get("effort"),
        task_budget=(output.get("task_budget") or {}).get("total"),
        stop=tuple(body.get("stop_sequences") or ()),
        tool_choice=choice["name"] if choice["type"] == "tool" else choice["type"],
        parallel_tools=not choice.get("disable_parallel_tool_use"),
        output_schema=(output.get("format") or {}).get("schema"),
        marks=tuple(marks),
        user_id=(body.get("metadata") or {}).get("user_id"),
    )


def write_stream(events: list[ModelEvent]) -> list[bytes]:
    """One entry per event; an entry may hold several server-sent events, or none."""
    writer = StreamEvents()
    return [b"".join(map(_frame, writer.write(event))) for event in events]


def write_whole(reply: Reply) -> bytes:
    return encode_json(message_object(reply))


def write_error(body: bytes) -> bytes:
    return b"event: error\ndata: " + body + b"\n\n"


def _frame(value: dict[str, Any]) -> bytes:
    kind: str = value["type"]
    return b"event: " + kind.encode() + b"\ndata: " + encode_json(value) + b"\n\n"


def _message(entry: dict[str, Any]) -> Message:
    content = entry["content"]
    if isinstance(content, str):
        return Message(entry["role"], (Text(content),))
    return Message(entry["role"], tuple(_block(block) for block in content))


def _block(value: dict[str, Any]) -> Block:
    plain = {key: item for key, item in value.items() if key != "cache_control"}
    block: Block = msgspec.convert(plain, Block)
    if isinstance(block, ToolResult) and not isinstance(block.content, str):
        return ToolResult(block.tool_use_id, tuple(block.content), block.is_error)
    return block


def _system(value: str | list[dict[str, Any]]) -> tuple[SystemBlock, ...]:
    if isinstance(value, str):
        return (SystemBlock(value),)
    return tuple(SystemBlock(block["text"]) for block in value)


def _search(tools: list[dict[str, Any]]) -> Search | None:
    for tool in tools:
        if tool.get("type") == SEARCH:
            named = (tuple(tool.get(key) or ()) for key in ("allowed_domains", "blocked_domains"))
            return Search(tool["max_uses"], *named)
    return None


def _thinking(value: dict[str, Any] | None) -> Any:
    if not value:
        return None
    return value["budget_tokens"] if value["type"] == "enabled" else value["type"]


def _mark(section: Any, index: int, block: dict[str, Any]) -> CacheMark:
    return CacheMark(section, index, block["cache_control"].get("ttl", "5m"))
