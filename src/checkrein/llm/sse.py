"""Server-sent events, as the WHATWG standard defines them, from bytes in any chunks."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

_MAX_EVENT_BYTES = 4 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class SseTooLargeError(Exception):
    """One event is over the size limit."""


class SseEvent(Struct, frozen=True, gc=False):
    event: str
    data: bytes


class SseParser:
    """`feed` yields each event whose closing blank line has arrived. It never yields an event that the end of
    the stream cuts off. Lines end with LF, CR LF or CR; it skips a leading byte order mark."""

    def __init__(self, limit: int = _MAX_EVENT_BYTES) -> None:
        self._limit = limit
        self._partial: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._head: bytes | None = b""
        self._event = ""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[SseEvent]:
        if self._head is not None:
            chunk = self._strip_bom(self._head + chunk)
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk.startswith(b"\n"):
                chunk = chunk[1:]
        for piece in chunk.splitlines(keepends=True):
            self._size += len(piece)
            if self._size > self._limit:
                raise SseTooLargeError(f"an event of more than {self._limit} bytes")
            self._after_cr = piece.endswith(b"\r")
            if not self._after_cr and not piece.endswith(b"\n"):
                self._partial.append(piece)
                return
            line = piece.rstrip(b"\r\n")
            if self._partial:
                line = b"".join((*self._partial, line))
                self._partial.clear()
            if line:
                self._field(line)
                continue
            if self._data:
                yield SseEvent(self._event, b"\n".join(self._data))
                self._data.clear()
            self._event = ""
            self._size = 0

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif not self._data:
            self._size = 0  # comments keep a long wait alive and count against no event

    def _strip_bom(self, head: bytes) -> bytes:
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._head = head
            return b""
        self._head = None
        return head.removeprefix(_BOM)
