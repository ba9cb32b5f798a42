"""What a conversation is made of: content blocks and messages.

Every block encodes (with msgspec) to the shape that the Messages API and our transcripts use, so
`msgspec.json.encode(message)` is `{"role": ..., "content": [{"type": "text", ...}, ...]}` and
`msgspec.convert(value, Message)` reads it back. Adapters of other wires translate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct


class Text(Struct, frozen=True, tag="text"):
    text: str


class Base64(Struct, frozen=True, tag="base64"):
    """Bytes in base64, such as `image/png` or `application/pdf`."""

    media_type: str
    data: str


class Url(Struct, frozen=True, tag="url"):
    url: str


class Image(Struct, frozen=True, tag="image"):
    source: Base64 | Url


class Document(Struct, frozen=True, tag="document", omit_defaults=True):
    """A PDF."""

    source: Base64 | Url
    title: str | None = None


class ToolUse(Struct, frozen=True, tag="tool_use", omit_defaults=True):
    """A tool call. When the model's arguments are not a JSON object, `input` is empty and `broken` holds
    what it wrote. Answer such a call with an error result; never run it."""

    id: str
    name: str
    input: dict[str, Any]
    broken: str | None = None


class ToolResult(Struct, frozen=True, tag="tool_result", omit_defaults=True):
    tool_use_id: str
    content: str | tuple[Text | Image | Document, ...] = ""
    is_error: bool = False


class Thinking(Struct, frozen=True, tag="thinking"):
    """`signature` is opaque to all but the adapter that made it; the others leave the block out."""

    thinking: str
    signature: str


class RedactedThinking(Struct, frozen=True, tag="redacted_thinking"):
    data: str


Block = Text | Image | Document | ToolUse | ToolResult | Thinking | RedactedThinking
Role = Literal["user", "assistant"]


class Message(Struct, frozen=True):
    """`user` messages hold text, images, documents and tool results; `assistant` messages text, thinking
    and tool calls. Keep a message's identity from request to request: adapters reuse its encoded bytes."""

    role: Role
    content: tuple[Block, ...]


def user(*content: Block | str) -> Message:
    return Message("user", _blocks(content))


def assistant(*content: Block | str) -> Message:
    return Message("assistant", _blocks(content))


def _blocks(content: Iterable[Block | str]) -> tuple[Block, ...]:
    return tuple(Text(block) if isinstance(block, str) else block for block in content)


def text_of(content: Iterable[Block]) -> str:
    """The text blocks of some content, joined."""
    return "".join(block.text for block in content if isinstance(block, Text))
