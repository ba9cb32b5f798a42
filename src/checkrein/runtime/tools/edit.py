"""Edit: replace a part of a file. Encoding, byte order mark and line endings stay the same."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.tools import files, write
from checkrein.runtime.tools.desk import digest
from checkrein.runtime.tools.patch import structured_patch
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput
from checkrein.runtime.tools.textfile import decode, uses_crlf


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    path: str = input["file_path"]
    old: str = input["old_string"]
    new: str = input["new_string"]
    every = bool(input.get("replace_all"))
    real = files.approved(path, context)
    if old == new:
        raise ToolFailure("old_string and new_string are the same. Nothing was changed.")
    if path.endswith(".ipynb"):
        raise ToolFailure(f"{path} is a notebook. Use NotebookEdit.")
    if not old:
        return _fill(path, real, new, context)
    original = files.read(real, write.LARGEST, shown=path)
    _require_seen(path, real, context)
    decoded = decode(original)
    if decoded is None:
        raise ToolFailure(f"{path} is a binary file.")
    changed, count = replaced(decoded.text, old, new, every)
    if not count:
        raise ToolFailure(_not_found(path, real, original, context))
    if count > 1 and not every:
        raise ToolFailure(
            f"old_string occurs {count} times in {path}. Add more lines around it so that it is unique, "
            "or set replace_all."
        )
    data = write.encode(decoded, changed, path)
    context.state.changing(real)
    files.replace(real, data, expected=original, shown=path)
    _still_seen(real, data, context)
    times = f" ({count} places)" if count > 1 else ""
    return ToolOutput(
        content=f"{path} has been updated{times}.",
        structured={
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": decoded.text,
            "structuredPatch": structured_patch(decoded.text, changed),
            "userModified": False,
            "replaceAll": every,
        },
    )


def replaced(text: str, old: str, new: str, every: bool) -> tuple[str, int]:
    """The text with `old` replaced, and how often `old` occurs in it.

    A plain newline of the model also matches CR LF; the replacement of CR LF lines has CR LF."""
    if "\r\n" not in text:
        return text.replace(old, new, -1 if every else 1), text.count(old)
    import re

    place = re.compile(re.sub(r"(?<!\r)\\\n", r"\\r?\\n", re.escape(old)))
    found = place.findall(text)
    crlf = uses_crlf(text) or any("\r\n" in match for match in found)
    replacement = _with_crlf(new) if crlf else new
    return place.sub(lambda match: replacement, text, 0 if every else 1), len(found)


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _fill(path: str, real: str, new: str, context: ToolContext) -> ToolOutput:
    """An empty old_string makes a new file, or fills an empty one."""
    if files.exists(real) and files.read(real, write.LARGEST, shown=path).strip():
        raise ToolFailure(f"{path} exists and is not empty. old_string must name the text to replace.")
    return write.create(path, real, new, context)


def _require_seen(path: str, real: str, context: ToolContext) -> None:
    seen = context.state.seen(real)
    if seen is None:
        raise ToolFailure(f"You have not read {path}. Read it first, then edit it.")
    if seen.view == "partial":
        raise ToolFailure(
            f"You have seen only the first page of {path}. Read the lines that you want to edit."
        )


def _not_found(path: str, real: str, original: bytes, context: ToolContext) -> str:
    seen = context.state.seen(real)
    if seen is not None and seen.digest != digest(original):
        return f"old_string is not in {path}, which has changed since you read it. Read it again."
    return f"old_string is not in {path}. It must match the file exactly, including spaces and line breaks."


def _still_seen(real: str, data: bytes, context: ToolContext) -> None:
    """The model knows the file as before, plus its own change."""
    seen = context.state.seen(real)
    context.state.note_seen(real, data, seen.view if seen else "range")
