"""A session as text to keep or to show. It hides secrets unless the caller wants them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from checkrein.base import secrets
from checkrein.base.errors import UsageError
from checkrein.runtime.store.layout import open_for_reading
from checkrein.runtime.store.lines import encode, read_lines
from checkrein.runtime.store.load import load
from checkrein.runtime.store.values import Block, Conversation

FORMS = ("markdown", "html", "json", "jsonl")


def export(path: Path, form: str, *, redact: bool = True) -> Iterator[str]:
    if form not in FORMS:
        raise UsageError(f"{form!r} is not an export format.", hint=f"Choose one of {', '.join(FORMS)}.")
    if form == "jsonl":
        return _entries(path, redact)
    conversation = load(path)
    if form == "html":
        from checkrein.runtime.store.export_html import html

        return html(conversation, redact)
    return _json(conversation, redact) if form == "json" else _markdown(conversation, redact)


def _entries(path: Path, redact: bool) -> Iterator[str]:
    with open_for_reading(path) as file:
        for line in read_lines(file):
            if line.value is not None:
                yield encode(secrets.redact(line.value) if redact else line.value).decode()


def _json(conversation: Conversation, redact: bool) -> Iterator[str]:
    value: dict[str, Any] = msgspec.to_builtins(conversation, enc_hook=str)
    yield encode(secrets.redact(value) if redact else value).decode()


def _markdown(conversation: Conversation, redact: bool) -> Iterator[str]:
    hide = secrets.redact_text if redact else str
    yield f"# {hide(conversation.title or conversation.first_prompt or conversation.session_id)}\n\n"
    yield f"Session {conversation.session_id}, {conversation.message_count} messages"
    yield f", {conversation.updated_at}\n" if conversation.updated_at else "\n"
    for message in conversation.messages:
        results_only = all(block["type"] == "tool_result" for block in message["content"])
        yield f"\n## {'Tools' if results_only else message['role'].capitalize()}\n"
        for block in message["content"]:
            yield "\n" + hide(_block(secrets.redact(block) if redact else block)) + "\n"


def _block(block: Block) -> str:
    kind = block["type"]
    if kind == "text":
        return str(block["text"])
    if kind == "tool_use":
        return f"Call of {block['name']}:\n\n" + _fenced(
            msgspec.json.format(msgspec.json.encode(block["input"])).decode()
        )
    if kind == "tool_result":
        return _fenced(flat(block.get("content", "")))
    return f"({kind})"


def flat(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part.get("text", f"({part.get('type')})")) if isinstance(part, dict) else str(part)
        for part in parts
    )


def _fenced(text: str) -> str:
    """A fence longer than any run of backticks inside."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
