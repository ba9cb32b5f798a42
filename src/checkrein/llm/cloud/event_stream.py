"""The binary event stream of AWS: frames with headers, a payload and two checksums."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from checkrein.llm.bodies import encode_json
from checkrein.llm.sse import SseEvent, SseTooLargeError
from checkrein.llm.values import loads, part

MEDIA_TYPE = "application/vnd.amazon.eventstream"
_MOST = 4 << 20
_PRELUDE = struct.Struct(">III")
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value, by its type; 6 and 7 say their own length."""
_STRING = 7


class EventStreamParser:
    """`feed` yields the events inside the chunks that Bedrock sends. A frame with an exception becomes an
    event of the type `error`. Raises ValueError for bytes that are not a frame."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, chunk: bytes) -> Iterator[SseEvent]:
        self._held += chunk
        while len(self._held) >= _PRELUDE.size:
            total, _, _ = _PRELUDE.unpack_from(self._held)
            if total > _MOST:
                raise SseTooLargeError(f"an event of more than {_MOST} bytes")
            if len(self._held) < total:
                return
            frame = bytes(self._held[:total])
            del self._held[:total]
            headers, payload = read_frame(frame)
            event = _event(headers, payload)
            if event is not None:
                yield event


def read_frame(frame: bytes) -> tuple[dict[str, Any], bytes]:
    total, size, check = _PRELUDE.unpack_from(frame)
    if total < 16 or zlib.crc32(frame[:8]) != check or zlib.crc32(frame[:-4]) != int.from_bytes(frame[-4:]):
        raise ValueError("a frame with a wrong checksum")
    start = _PRELUDE.size
    return dict(_headers(frame[start : start + size])), frame[start + size : -4]


def write_frame(headers: dict[str, str], payload: bytes) -> bytes:
    """The same from the other side, for servers on loopback."""
    written = b"".join(
        bytes((len(name),)) + name.encode() + struct.pack(">BH", _STRING, len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", len(written) + len(payload) + 16, len(written))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + written + payload
    return body + struct.pack(">I", zlib.crc32(body))


def _headers(data: bytes) -> Iterator[tuple[str, Any]]:
    at = 0
    while at < len(data):
        end = at + 1 + data[at]
        name, kind = data[at + 1 : end].decode(), data[end]
        at = end + 1
        if kind in (6, 7):
            size = int.from_bytes(data[at : at + 2])
            at += 2
        else:
            size = _SIZES[kind]
        value = data[at : at + size]
        at += size
        yield name, value.decode() if kind == _STRING else value


def _event(headers: dict[str, Any], payload: bytes) -> SseEvent | None:
    kind = headers.get(":message-type")
    if kind in ("exception", "error"):
        name = headers.get(":exception-type") or headers.get(":error-code") or "unknown"
        message = part(loads(payload)).get("message") or headers.get(":error-message") or name
        told = {"type": "error", "error": {"type": name, "message": message}}
        return SseEvent("error", encode_json(told))
    carried = part(loads(payload)).get("bytes")
    return SseEvent("chunk", base64.b64decode(carried)) if isinstance(carried, str) else None
