"""Reading a range of lines from a file that is too large to hold in memory."""

from __future__ import annotations

from typing import BinaryIO

from bridle.runtime.tools import read
from bridle.runtime.tools.port import ToolFailure, ToolOutput

_BLOCK = 1 << 20
_SCAN = 8 << 30


def page(path: str, file: BinaryIO, offset: int | None, limit: int | None, cap: int) -> ToolOutput:
    """The lines asked for, else the first page. The total is counted to the end (of at most 8 GiB)."""
    first = max(offset or 1, 1)
    asked = offset is not None or limit is not None
    room = cap * read.BYTES_PER_TOKEN
    lines: list[str] = []
    line = 1
    full = False
    while data := file.readline(room + 2):
        whole_line = data.endswith(b"\n")
        wanted = line >= first and (limit is None or line < first + limit) and not full
        if wanted:
            if b"\0" in data:
                raise ToolFailure(f"{path} is a binary file of many megabytes.")
            room -= len(data)
            full = room < 0
            if full and asked:
                message = f"These lines of {path} are more than {cap} tokens. Ask for fewer lines."
                raise ToolFailure(message)
            if not full or not lines:
                lines.append(data.decode("utf-8", "replace").rstrip("\n"))
        if full or (limit is not None and line >= first + limit):
            break
        line += whole_line
    total = line + _count(file)
    if not lines:
        notice = f"<system-reminder>{path} has {total} lines.</system-reminder>"
        return read.result(path, "", 0, first, total, notice)
    shown = read.number(lines, first)
    notice = read.partial_notice(path, len(lines), total) if full else ""
    return read.result(path, "\n".join(lines), len(lines), first, total, shown + notice, full)


def _count(file: BinaryIO) -> int:
    count = 0
    for _ in range(_SCAN // _BLOCK):
        block = file.read(_BLOCK)
        if not block:
            break
        count += block.count(b"\n")
    return count
