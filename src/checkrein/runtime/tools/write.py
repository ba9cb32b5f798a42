"""Write: a whole file, either new or in place of one that the model has seen in full."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.tools import files
from checkrein.runtime.tools.desk import digest
from checkrein.runtime.tools.patch import structured_patch
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput
from checkrein.runtime.tools.textfile import TextFile, decode

LARGEST = 64 << 20


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    path: str = input["file_path"]
    content: str = input["content"]
    real = files.approved(path, context)
    if not files.exists(real):
        return create(path, real, content, context)
    original = files.read(real, LARGEST, shown=path)
    _require_seen(path, real, original, context)
    decoded = decode(original) or TextFile("")
    data = encode(decoded, content, path)
    context.state.changing(real)
    files.replace(real, data, expected=original, shown=path)
    context.state.note_seen(real, data, "whole")
    return ToolOutput(
        content=f"{path} has been updated.",
        structured=_structured("update", path, content, decoded.text),
    )


def create(path: str, real: str, content: str, context: ToolContext) -> ToolOutput:
    data = encode(TextFile(""), content, path)
    context.state.changing(real)
    files.replace(real, data, shown=path)
    context.state.note_seen(real, data, "whole")
    return ToolOutput(
        content=f"{path} has been created.", structured=_structured("create", path, content, None)
    )


def encode(file: TextFile, text: str, path: str) -> bytes:
    """The text in the encoding of its file."""
    try:
        return file.encode(text)
    except UnicodeEncodeError as error:
        strange = text[error.start : error.start + 1]
        raise ToolFailure(
            f"{path} is {file.encoding}, which can't hold {strange!r}. Nothing was written."
        ) from None


def _require_seen(path: str, real: str, original: bytes, context: ToolContext) -> None:
    seen = context.state.seen(real)
    if not original:
        return
    if seen is None:
        raise ToolFailure(f"{path} exists and you have not read it. Read it first, then write it.")
    if seen.view != "whole":
        raise ToolFailure(f"You have read only a part of {path}. Read all of it first, or use Edit.")
    if seen.digest != digest(original):
        raise ToolFailure(f"{path} has changed since you read it. Read it again, then write it.")


def _structured(kind: str, path: str, content: str, original: str | None) -> dict[str, Any]:
    return {
        "type": kind,
        "filePath": path,
        "content": content,
        "structuredPatch": [] if original is None else structured_patch(original, content),
        "originalFile": original,
        "userModified": False,
    }
