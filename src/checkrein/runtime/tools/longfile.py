"""Read a range of lines from a file that is too large for memory."""

from __future__ import annotations

from typing import BinaryIO

from checkrein.runtime.tools import read
from checkrein.runtime.tools.port import ToolFailure, ToolOutput

_BLOCK = 1 << 20
_SCAN = 8 << 30


def page(path: str, file: BinaryIO, offset: int | None, limit: int | None, cap: int) -> ToolOutput:
    """The requested lines, else the first page. Counts the lines to the end (at most 8 GiB)."""
    first = max(offset or 1, 1)
    last = float("inf") if limit is None else first + max(limit, 0) - 1
    room = cap * read.BYTES_PER_TOKEN
    lines: list[str] = []
    newlines = _skip(file, first - 1)
    full = False
    while newlines + 1 >= first and newlines < last and not full and (data := file.readline(room + 2)):
        if b"\0" in data:
            raise ToolFailure(f"{path} is a binary file of many megabytes.")
        room -= len(data)
        full = room < 0
        if full and (offset is not None or limit is not None):
            raise ToolFailure(f"These lines of {path} are more than {cap} tokens. Read fewer lines.")
        if not full or not lines:
            lines.append(data.decode("utf-8", "replace").rstrip("\n"))
        newlines += data.endswith(b"\n")
    total = newlines + _count(file) + 1
    if not lines:
        notice = f"<system-reminder>{path} has {total} lines.</system-reminder>"
        return read.result(path, "", 0, first, total, notice)
    shown = read.number(lines, first)
    notice = read.partial_notice(path, len(lines), total) if full else ""
    return read.result(path, "\n".join(lines), len(lines), first, total, shown + notice, full)


def _skip(file: BinaryIO, lines: int) -> int:
    """Skip `lines` lines; returns how many there were."""
    passed = 0
    while passed < lines and (block := file.read(_BLOCK)):
        here = block.count(b"\n")
        if passed + here < lines:
            passed += here
            continue
        at = -1
        for _ in range(lines - passed):
            at = block.index(b"\n", at + 1)
        file.seek(at + 1 - len(block), 1)
        return lines
    return passed


def _count(file: BinaryIO) -> int:
    count = 0
    for _ in range(_SCAN // _BLOCK):
        block = file.read(_BLOCK)
        if not block:
            break
        count += block.count(b"\n")
    return count
