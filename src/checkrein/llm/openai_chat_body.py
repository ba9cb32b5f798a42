"""A Request as the body of the Chat Completions API, which many servers speak."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.llm.bodies import MessageBytes, assemble, encode_json
from checkrein.llm.content import Base64, Block, Document, Image, Message, Text, Thinking, ToolResult, ToolUse
from checkrein.llm.port import Request
from checkrein.llm.tool_ids import CHAT


class ChatDialect(Struct, frozen=True):
    """Where servers of this API differ. `limit_field` carries max_tokens. `reasoning_field` is the field of
    an assistant message that sends the model's own reasoning back; without it, the reasoning is left out.
    `cache_key` says whether the server understands `prompt_cache_key`. `path` is where it answers."""

    limit_field: str = "max_tokens"
    reasoning_field: str | None = None
    cache_key: bool = False
    path: str = "/chat/completions"


def encode(request: Request, kept: MessageBytes, dialect: ChatDialect) -> bytes:
    head: dict[str, Any] = {"model": request.model, dialect.limit_field: request.max_tokens}
    head |= {"stream": True, "stream_options": {"include_usage": True}}
    if request.temperature is not None:
        head["temperature"] = request.temperature
    if request.stop:
        head["stop"] = request.stop
    if request.effort:
        head["reasoning_effort"] = request.effort
    if request.output_schema is not None:
        schema = {"name": "output", "schema": request.output_schema}
        head["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.tools:
        if request.tool_choice != "auto":
            head["tool_choice"] = _choice(request.tool_choice)
        if not request.parallel_tools:
            head["parallel_tool_calls"] = False
        head["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in request.tools
        ]
    if request.cache_key and dialect.cache_key:
        head["prompt_cache_key"] = request.cache_key
    if request.user_id:
        head["user"] = request.user_id
    head.update(request.extra)
    items = [data for _, data in kept.sent(request.messages, CHAT)]
    if request.system:
        content = "\n\n".join(block.text for block in request.system)
        items.insert(0, encode_json({"role": "system", "content": content}))
    return assemble(head, "messages", items)


def encode_message(message: Message, reasoning_field: str | None = None) -> bytes:
    """One of our messages becomes one or more of theirs. Each tool result becomes its own message. Images of
    tool results have no place there, so they follow as a user message."""
    items = _assistant(message, reasoning_field) if message.role == "assistant" else _user(message)
    return b",".join(encode_json(item) for item in items)


def _assistant(message: Message, reasoning_field: str | None) -> list[dict[str, Any]]:
    text = "".join(block.text for block in message.content if isinstance(block, Text))
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {"name": block.name, "arguments": encode_json(block.input).decode()},
        }
        for block in message.content
        if isinstance(block, ToolUse)
    ]
    if not text and not calls:
        return []
    item: dict[str, Any] = {"role": "assistant", "content": text or None}
    reasoning = "".join(block.thinking for block in message.content if isinstance(block, Thinking))
    if reasoning_field and reasoning:
        item[reasoning_field] = reasoning
    if calls:
        item["tool_calls"] = calls
    return [item]


def _user(message: Message) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for block in message.content:
        if isinstance(block, ToolResult):
            content = (Text(block.content),) if isinstance(block.content, str) else block.content
            text = "\n".join(part.text for part in content if isinstance(part, Text))
            items.append({"role": "tool", "tool_call_id": block.tool_use_id, "content": text})
            parts += [sent for part in content if not isinstance(part, Text) and (sent := _part(part))]
        elif sent := _part(block):
            parts.append(sent)
    if len(parts) == 1 and parts[0]["type"] == "text":
        items.append({"role": "user", "content": parts[0]["text"]})
    elif parts:
        items.append({"role": "user", "content": parts})
    return items


def _part(block: Block) -> dict[str, Any] | None:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text} if block.text else None
    if isinstance(block, Image):
        return {"type": "image_url", "image_url": {"url": data_url(block.source)}}
    if isinstance(block, Document) and isinstance(block.source, Base64):
        name = block.title or "document.pdf"
        return {"type": "file", "file": {"filename": name, "file_data": data_url(block.source)}}
    return None


def data_url(source: object) -> str:
    if isinstance(source, Base64):
        return f"data:{source.media_type};base64,{source.data}"
    return str(getattr(source, "url", ""))


def _choice(choice: str) -> Any:
    if choice in ("auto", "none"):
        return choice
    return "required" if choice == "any" else {"type": "function", "function": {"name": choice}}
