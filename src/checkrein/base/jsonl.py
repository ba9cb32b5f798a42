"""Append-only files with one JSON object per line, readable after any cut."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


def encode_line(record: Any) -> bytes:
    return _encoder.encode(record) + b"\n"


def append(descriptor: int, record: Any) -> None:
    """Write one record with as few write(2) calls as the kernel allows; returns once it is written."""
    data = memoryview(encode_line(record))
    while data:
        data = data[os.write(descriptor, data) :]


def read(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (line number, object) for each whole record; skip lines that are torn or not JSON."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield number, _decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
