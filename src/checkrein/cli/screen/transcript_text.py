"""A conversation as plain text, with everything in it: thoughts, inputs and outputs of tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from checkrein.llm.port import Block, Message, Text, Thinking, ToolResult, ToolUse, text_of

_LARGEST = 200_000


def transcript_text(messages: Sequence[Message]) -> str:
    return "\n".join(line for message in tuple(messages) for line in _message(message))


def _message(message: Message) -> Iterator[str]:
    for block in message.content:
        yield from _block(message.role, block)


def _block(role: str, block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield from _part("You" if role == "user" else "Model", block.text)
        case Thinking():
            yield from _part("Thought", block.thinking)
        case ToolUse():
            yield from _part(f"Call of {block.name}", json.dumps(block.input, indent=2, ensure_ascii=False))
        case ToolResult():
            said = block.content if isinstance(block.content, str) else text_of(block.content)
            yield from _part("Error" if block.is_error else "Result", said)
        case _:
            yield from _part(type(block).__name__, "")


def _part(head: str, text: str) -> Iterator[str]:
    yield f"── {head} " + "─" * max(3, 60 - len(head))
    if len(text) > _LARGEST:
        half = _LARGEST // 2
        yield f"{text[:half]}\n… {len(text) - _LARGEST:,} characters …\n{text[-half:]}"
    else:
        yield text
    yield ""
