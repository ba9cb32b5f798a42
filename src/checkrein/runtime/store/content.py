"""Read the content of one entry: its blocks, its calls and results, what the user typed."""

from __future__ import annotations

import re
from typing import Any

from checkrein.runtime.store.values import Block, Entry, Usage

CHAIN_TYPES = frozenset({"user", "assistant", "progress", "system", "attachment"})
_NOT_TYPED = re.compile(
    r"\s*(?:<(?:command-name|local-command-|session-start-hook|ide_|tick>|goal>)|\[Request interrupted)"
)


def blocks(entry: Entry) -> list[Block]:
    """The content of an entry's message as blocks that can be sent, without blank text and values that are
    not blocks."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [_whole(block) for block in content if isinstance(block, dict) and _is_sendable(block)]


def _whole(block: Block) -> Block:
    if block["type"] == "tool_use" and not isinstance(block.get("input"), dict):
        return {**block, "input": {}}
    return block


def _is_sendable(block: Block) -> bool:
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        return isinstance(text, str) and not (text.isspace() or not text)
    if kind == "tool_use":
        return bool(_text(block, "id") and _text(block, "name"))
    if kind == "tool_result":
        return bool(_text(block, "tool_use_id"))
    return isinstance(kind, str)


def call_of(block: Block) -> str | None:
    """The id of a tool call."""
    call = block["id"] if block["type"] == "tool_use" else None
    return call if isinstance(call, str) else None


def result_of(block: Block) -> str | None:
    """The id of the call that a tool result answers."""
    answered = block["tool_use_id"] if block["type"] == "tool_result" else None
    return answered if isinstance(answered, str) else None


def text_of(found: list[Block]) -> str:
    return "\n".join(block["text"] for block in found if block["type"] == "text")


def prompt_of(entry: Entry, found: list[Block]) -> str | None:
    """What the user typed, or None. Tool results, notes of the harness and summaries are not prompts."""
    if entry.get("type") != "user" or any(entry.get(flag) for flag in _HARNESS):
        return None
    if not found or any(block["type"] == "tool_result" for block in found):
        return None
    text = text_of(found)
    return None if _NOT_TYPED.match(text) else text


_HARNESS = ("isMeta", "isCompactSummary", "isSidechain", "teamName")


def usage_of(entry: Entry) -> Usage | None:
    """The usage that an assistant entry reports, with the cost that Checkrein recorded."""
    message = entry.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    if not isinstance(usage, dict):
        return None
    cost = own(entry).get("cost_usd")
    return Usage(
        input_tokens=_count(usage.get("input_tokens")),
        output_tokens=_count(usage.get("output_tokens")),
        cache_creation_input_tokens=_count(usage.get("cache_creation_input_tokens")),
        cache_read_input_tokens=_count(usage.get("cache_read_input_tokens")),
        cost_usd=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else 0.0,
    )


def own(entry: Entry) -> dict[str, Any]:
    """Checkrein's own fields of an entry."""
    fields = entry.get("checkrein")
    return fields if isinstance(fields, dict) else {}


def message_id(entry: Entry) -> str | None:
    message = entry.get("message")
    return _text(message, "id") if isinstance(message, dict) else None


def _text(fields: dict[str, Any], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
