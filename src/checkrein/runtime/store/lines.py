"""A transcript as a stream of lines, each decoded or named as damaged. Total: no content of a file raises.

Two records can share a line: a torn one and the next, without a newline between them. Such a line gives the
records that are whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from checkrein.base import wellformed

MAX_LINE = 32 * 1024 * 1024
_ATTEMPTS = 1000
_START = re.compile(rb'\{"(?:type|parentUuid)":')
_INSIDE = (b":", b",", b"[", b" ")
_decoder = msgspec.json.Decoder()
_FAILURES = (ValueError, RecursionError, MemoryError)  # msgspec's DecodeError is a ValueError


class Line(Struct, gc=False):
    """`value` is None when nothing is readable; `problem` says what is wrong with the line."""

    number: int
    offset: int
    size: int
    value: dict[str, Any] | None
    problem: str | None = None


def read_lines(file: BinaryIO) -> Iterator[Line]:
    offset, number = file.tell(), 0
    while raw := file.readline(MAX_LINE):
        number += 1
        size = len(raw)
        if size == MAX_LINE and not raw.endswith(b"\n"):
            size += _skip_line(file)
            yield Line(number, offset, size, None, f"is longer than {MAX_LINE >> 20} MiB")
        elif raw.strip():
            yield from _records(raw, number, offset)
        offset += size


def decode(raw: bytes) -> dict[str, Any] | None:
    """One record, or None. Lone surrogates and bytes that are not UTF-8 become U+FFFD."""
    try:
        value = _decoder.decode(raw)
    except _FAILURES:
        import json

        try:
            value = wellformed.scrubbed(json.loads(raw.decode("utf-8", "replace")))
        except _FAILURES:
            return None
    return value if isinstance(value, dict) else None


def _records(raw: bytes, number: int, offset: int) -> Iterator[Line]:
    value = decode(raw)
    if value is not None:
        yield Line(number, offset, len(raw), value)
        return
    torn = not raw.endswith(b"\n")
    found = _salvage(raw)
    yield Line(number, offset, len(raw), None, "is cut off" if torn and not found else "is damaged")
    for start, size, record in found:
        yield Line(number, offset + start, size, record)


def _salvage(raw: bytes) -> list[tuple[int, int, dict[str, Any]]]:
    """Whole records at the end of a damaged line, in order.

    Inside a JSON string a quote is escaped, so a start such as `{"type":` never occurs in one, and only one
    start can decode up to a given end. Text in the place of a value belongs to the torn record, even when it
    looks like an entry: only entries directly after the torn record count.
    """
    found: list[tuple[int, int, dict[str, Any]]] = []
    view, end = memoryview(raw), len(raw)
    for match in list(_START.finditer(raw))[-_ATTEMPTS:][::-1]:
        start = match.start()
        if raw[start - 1 : start] in _INSIDE:
            continue
        try:
            value = _decoder.decode(view[start:end])
        except _FAILURES:
            continue
        if isinstance(value, dict) and isinstance(value.get("sessionId"), str):
            found.append((start, end - start, value))
            end = start
    return found[::-1]


def _skip_line(file: BinaryIO) -> int:
    size = 0
    while part := file.readline(1 << 20):
        size += len(part)
        if part.endswith(b"\n"):
            break
    return size


def encode(record: dict[str, Any]) -> bytes:
    """One line. U+FFFD replaces text that is not valid Unicode (undecodable tool output)."""
    return wellformed.encode(record) + b"\n"
