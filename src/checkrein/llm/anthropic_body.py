"""A Request as the body of the Messages API."""

from __future__ import annotations

from typing import Any

import msgspec

from checkrein.llm.bodies import MessageBytes, assemble, encode_json
from checkrein.llm.content import Block, Message, Text, Thinking, ToolUse
from checkrein.llm.port import CacheMark, Request, Search
from checkrein.llm.tool_ids import MESSAGES

SEARCH = "web_search_20250305"
_TASK_BUDGETS = "task-budgets-2026-03-13"
_MARKABLE = ("text", "tool_use", "tool_result", "image", "document")
_FOREIGN_SIGNATURE = ":"  # signatures of this API are base64; other adapters put a name and a colon in front


def encode(request: Request, kept: MessageBytes, head: dict[str, Any] | None = None) -> bytes:
    """`head` are the first fields, where the endpoint wants others than the vendor's own."""
    if head is None:
        head = {"model": request.model, "max_tokens": request.max_tokens, "stream": True}
    if request.temperature is not None:
        head["temperature"] = request.temperature
    if request.stop:
        head["stop_sequences"] = request.stop
    if thinking := _thinking(request):
        head["thinking"] = thinking
    if output := _output(request):
        head["output_config"] = output
    if choice := _choice(request):
        head["tool_choice"] = choice
    if request.user_id:
        head["metadata"] = {"user_id": request.user_id}
    head.update(request.extra)
    marks = {(mark.section, _position(mark, request)): mark for mark in request.marks}
    if request.tools:
        head["tools"] = [
            _marked(
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema},
                marks.get(("tools", index)),
            )
            for index, tool in enumerate(request.tools)
        ]
    if request.search is not None:
        head.setdefault("tools", []).append(_search(request.search))
    if request.system:
        head["system"] = [
            _marked({"type": "text", "text": block.text}, marks.get(("system", index)))
            for index, block in enumerate(request.system)
        ]
    sent = kept.sent(request.messages, MESSAGES)
    items = [data for _, data in sent]
    for index in {position for section, position in marks if section == "messages"}:
        if 0 <= index < len(items):
            own = (m for m in request.marks if m.section == "messages" and _position(m, request) == index)
            items[index] = encode_message(sent[index][0], *own)
    return assemble(head, "messages", items)


def encode_message(message: Message, *marks: CacheMark) -> bytes:
    """The message for this API; empty when no part of it can be sent."""
    content: list[Any] = [sent for block in message.content if (sent := _sendable(block)) is not None]
    if not content:
        return b""
    for mark in marks:
        place = mark.block if -len(content) <= mark.block < len(content) else -1
        block = content[place] if isinstance(content[place], dict) else msgspec.to_builtins(content[place])
        # thinking can't carry a mark
        content[place] = _marked(block, mark) if block["type"] in _MARKABLE else block
    return encode_json({"role": message.role, "content": content})


def _sendable(block: Block) -> Block | None:
    """The block as this API accepts it: no empty text, no thinking with another API's signature."""
    if isinstance(block, Text) and not block.text:
        return None
    if isinstance(block, Thinking) and (not block.signature or _FOREIGN_SIGNATURE in block.signature):
        return None
    if isinstance(block, ToolUse) and block.broken is not None:
        return ToolUse(block.id, block.name, block.input)
    return block


def _marked(value: dict[str, Any], mark: CacheMark | None) -> dict[str, Any]:
    if mark is None:
        return value
    control = {"type": "ephemeral"} if mark.ttl == "5m" else {"type": "ephemeral", "ttl": mark.ttl}
    return {**value, "cache_control": control}


def _position(mark: CacheMark, request: Request) -> int:
    entries: tuple[object, ...] = getattr(request, mark.section)
    return mark.index if mark.index >= 0 else len(entries) + mark.index


def betas(request: Request) -> tuple[str, ...]:
    """The features of the service that a request needs switched on."""
    needed = (_TASK_BUDGETS,) if request.task_budget is not None else ()
    return tuple(dict.fromkeys((*request.betas, *needed)))


def _thinking(request: Request) -> dict[str, Any]:
    value: dict[str, Any] = {}
    if isinstance(request.thinking, int):
        value = {"type": "enabled", "budget_tokens": request.thinking}
    elif request.thinking or request.thinking_display:
        value = {"type": request.thinking or "adaptive"}
    if request.thinking_display and request.thinking != "disabled":
        value["display"] = request.thinking_display
    return value


def _search(search: Search) -> dict[str, Any]:
    tool: dict[str, Any] = {"type": SEARCH, "name": "web_search", "max_uses": search.most}
    if search.allowed:
        tool["allowed_domains"] = search.allowed
    if search.blocked:
        tool["blocked_domains"] = search.blocked
    return tool


def _output(request: Request) -> dict[str, Any]:
    output: dict[str, Any] = {}
    if request.effort:
        output["effort"] = request.effort
    if request.task_budget is not None:
        output["task_budget"] = {"type": "tokens", "total": request.task_budget}
    if request.output_schema is not None:
        output["format"] = {"type": "json_schema", "schema": request.output_schema}
    return output


def _choice(request: Request) -> dict[str, Any] | None:
    if not request.tools or (request.tool_choice == "auto" and request.parallel_tools):
        return None
    plain = request.tool_choice in ("auto", "any", "none")
    choice: dict[str, Any] = (
        {"type": request.tool_choice} if plain else {"type": "tool", "name": request.tool_choice}
    )
    if not request.parallel_tools and request.tool_choice != "none":
        choice["disable_parallel_tool_use"] = True
    return choice
