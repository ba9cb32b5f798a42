"""What a server answers, as content for the model: every kind of it, within limits, the rest in files.

Texts and bytes of a server are data. No file is named after them, and secrets in texts are masked before
anything is cut.
"""

from __future__ import annotations

import binascii
import os
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from checkrein.base.harmless import one_line
from checkrein.base.home import private_dir
from checkrein.base.ids import new_uuid
from checkrein.base.wellformed import encode, scrubbed
from checkrein.facts.mcp import (
    IMAGE_TOKENS,
    MAX_OUTPUT_TOKENS,
    MAX_OUTPUT_TOKENS_VARIABLE,
    MAX_RESULT_CHARS,
    RESULT_CHARS_HINT,
    WARN_OUTPUT_TOKENS,
)
from checkrein.llm.port import Base64, Image, Text
from checkrein.runtime.context.reminders import quoted
from checkrein.runtime.mcp.connection import CallResult
from checkrein.runtime.secrets.cover import Cover
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.tools.port import ToolContext, ToolOutput

_CHARS_PER_TOKEN = 4
_KEPT_CHARS = 16 << 20
_LARGEST_IMAGE = 3_750_000
_PREVIEW = 2_000
_STRUCTURED_CHARS = 100_000
_IMAGES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_SUFFIXES = {
    **_IMAGES,
    "application/json": "json",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "image/svg+xml": "svg",
    "text/html": "html",
    "text/plain": "txt",
}

Part = Text | Image


class Outlet(Struct, frozen=True, kw_only=True):
    """Where content goes. `source` is who it comes from, for messages. `chars` is how much text the model
    gets, `tokens` how much with images. Without `images` they go to files."""

    cover: Cover
    results_dir: str
    source: str
    emit: Callable[[Event], object]
    chars: int = MAX_OUTPUT_TOKENS * _CHARS_PER_TOKEN
    tokens: int = MAX_OUTPUT_TOKENS
    images: bool = True

    @classmethod
    def of(cls, context: ToolContext, source: str, meta: Mapping[str, Any] | None = None) -> Outlet:
        tokens = max_tokens(context.env)
        return cls(
            cover=context.cover,
            results_dir=context.results_dir,
            source=source,
            emit=context.emit,
            chars=max(tokens * _CHARS_PER_TOKEN, _wanted((meta or {}).get(RESULT_CHARS_HINT))),
            tokens=tokens,
        )

    def save(self, data: bytes, suffix: str) -> str:
        """Keep bytes in a file that only the user can read; returns its path."""
        private_dir(Path(self.results_dir))
        path = os.path.join(self.results_dir, f"mcp-{new_uuid()}.{suffix}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(data)
        return path


def max_tokens(env: Mapping[str, str]) -> int:
    text = env.get(MAX_OUTPUT_TOKENS_VARIABLE, "").strip()
    return int(text) if text.isdecimal() and len(text) < 10 and int(text) > 0 else MAX_OUTPUT_TOKENS


def _wanted(hint: Any) -> int:
    known = isinstance(hint, int) and not isinstance(hint, bool) and hint > 0
    return min(hint, MAX_RESULT_CHARS) if known else 0


def output(result: CallResult, outlet: Outlet) -> ToolOutput:
    """The result of a call. An error has only text."""
    blocks = result.content
    if not blocks and result.structured is not None:
        blocks = ({"type": "text", "text": encode(result.structured).decode()},)
    parts = content(blocks, outlet)
    texts = [part.text for part in parts if isinstance(part, Text)]
    if result.is_error:
        text = "\n".join(texts) or "The tool failed and did not say why."
        return ToolOutput(content=text, structured=text, is_error=True, limit=outlet.chars)
    return ToolOutput(
        content=joined(parts) or f"({outlet.source} gave no output)",
        structured=_structured(result, texts, outlet),
        limit=outlet.chars,
    )


def joined(parts: tuple[Part, ...]) -> str | tuple[Part, ...]:
    """The parts as one text, if they are texts only."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    return "\n".join(texts) if len(texts) == len(parts) else parts


def output_of(value: Any, outlet: Outlet) -> ToolOutput:
    """A value of ours as JSON for the model."""
    parts = content(({"type": "text", "text": encode(value).decode()},), outlet)
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    return ToolOutput(content=text, structured=outlet.cover.value(value), limit=outlet.chars)


def _structured(result: CallResult, texts: list[str], outlet: Outlet) -> Any:
    """What hooks and programs see: the server's own structured content if it has some and it is not huge."""
    if result.structured is not None and len(encode(result.structured)) <= _STRUCTURED_CHARS:
        return outlet.cover.value(scrubbed(result.structured))
    return "\n".join(texts)


def content(blocks: Iterable[Any], outlet: Outlet) -> tuple[Part, ...]:
    """The blocks of a result, of a prompt or of a resource for the model: texts within the limit, images that
    models take, a line for everything that is in a file."""
    parts: list[Part] = []
    left = outlet.tokens // IMAGE_TOKENS if outlet.images else 0
    for block in blocks:
        for part in _parts(block, outlet, left > 0):
            left -= isinstance(part, Image)
            parts.append(part)
    return _within(tuple(parts), outlet)


def _parts(block: Any, outlet: Outlet, images: bool) -> Iterator[Part]:
    if not isinstance(block, dict):
        yield Text(f"[content that can't be read: {encode(block).decode()[:200]}]")
        return
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        yield Text(block["text"])
    elif kind in ("image", "audio") and isinstance(block.get("data"), str):
        yield _bytes(block["data"], block.get("mimeType"), str(kind), outlet, images)
    elif kind == "resource" and isinstance(block.get("resource"), dict):
        yield from _resource(block["resource"], outlet, images)
    elif kind == "resource_link" and isinstance(block.get("uri"), str):
        yield Text(_link(block))
    else:
        yield Text(f"[content of an unknown kind: {encode(block).decode()}]")


def _resource(resource: dict[str, Any], outlet: Outlet, images: bool) -> Iterator[Part]:
    uri = _one(resource.get("uri"))
    if isinstance(resource.get("text"), str):
        yield Text(f"[resource {uri}]\n{resource['text']}")
    elif isinstance(resource.get("blob"), str):
        yield _bytes(resource["blob"], resource.get("mimeType"), f"resource {uri}", outlet, images)
    else:
        yield Text(f"[resource {uri} without content]")


def _link(block: dict[str, Any]) -> str:
    about = [_one(block.get(key)) for key in ("title", "description", "mimeType") if block.get(key)]
    more = f" ({'; '.join(about)})" if about else ""
    return (
        f"[resource link {_one(block.get('name'))}: {_one(block['uri'])}{more}; ReadMcpResourceTool reads it]"
    )


def _bytes(data: str, media: Any, what: str, outlet: Outlet, images: bool) -> Part:
    """An image for the model, or a line about the file that has the bytes."""
    kind = media.partition(";")[0].strip().lower() if isinstance(media, str) else ""
    try:
        decoded = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return Text(f"[{what}: the server sent it in a form that can't be read]")
    if images and kind in _IMAGES and 0 < len(decoded) <= _LARGEST_IMAGE:
        return Image(Base64(kind, data))
    path = outlet.save(decoded, _SUFFIXES.get(kind, "bin"))
    return Text(f"[{what}, {_one(kind) or 'of an unknown kind'}, {len(decoded):,} bytes: it is in {path}]")


def _within(parts: tuple[Part, ...], outlet: Outlet) -> tuple[Part, ...]:
    """The parts without secrets; of texts that are too long together the beginning, and a file with all."""
    shown = tuple(Text(_plain(part.text, outlet)) if isinstance(part, Text) else part for part in parts)
    texts = [part.text for part in shown if isinstance(part, Text)]
    size = sum(map(len, texts))
    tokens = size // _CHARS_PER_TOKEN
    if size <= outlet.chars:
        if tokens > WARN_OUTPUT_TOKENS:
            text = f"{outlet.source} gave a large output: about {tokens:,} tokens."
            outlet.emit(Notice("warning", text))
        return shown
    whole = "\n".join(texts)
    path = outlet.save(whole.encode("utf-8", "replace"), "txt")
    preview = whole[: min(_PREVIEW, outlet.chars)]
    note = f"The output is too long ({size:,} characters). It is in {path}\nIt begins with:\n{preview}"
    return (Text(note), *(part for part in shown if isinstance(part, Image)))


def _plain(text: str, outlet: Outlet) -> str:
    kept = text[:_KEPT_CHARS]
    masked = outlet.cover.text(quoted(scrubbed(kept).replace("\0", "\ufffd")))
    return masked if kept is text else f"{masked}\n[... {len(text) - _KEPT_CHARS:,} characters dropped ...]"


def _one(value: Any) -> str:
    """A name or an address that a server chose, in one line."""
    return one_line(str(value if value is not None else "")[:500])
