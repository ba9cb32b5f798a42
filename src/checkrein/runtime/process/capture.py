"""The kept output of a child: the head in memory, the tail, and the rest in a file."""

from __future__ import annotations

import contextlib
import os
from typing import Protocol

TAIL = 32 * 1024
_LAST = 4096
FILE_LIMIT = 64 * 1024 * 1024
_CHUNK = 1 << 16


class Filter(Protocol):
    """What happens to output on its way to the file. `take` may keep a part for later; `rest` gives it."""

    def take(self, chunk: bytes) -> bytes: ...

    def rest(self) -> bytes: ...


class Capture:
    """The output of one pipe. The first `limit` bytes stay in memory; when there is more and `spill` names a
    file, everything goes there too, up to `file_limit` bytes. `through` writes it from the first byte on.

    The file is new for each output (an existing one is never opened), and only the user can read it. When
    the disk is full or the file can't be made, only the rest of the output is lost. `filter` changes what
    goes into the file, not what stays in memory.
    """

    def __init__(
        self,
        limit: int,
        spill: str | None = None,
        through: bool = False,
        filter: Filter | None = None,
        file_limit: int = FILE_LIMIT,
    ) -> None:
        self.size = 0
        self.path: str | None = None
        self._limit, self._file_limit = limit, file_limit
        self._head = bytearray()
        self._tail = bytearray()
        self._spill = spill
        self._file = -1
        self._filed = 0
        self._filter = filter
        if through:
            self._open()

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = self._limit - len(self._head)
        if len(chunk) > room:
            self.spill_from_here()
        if room > 0:
            self._head += chunk[:room]
        if len(chunk) > room:
            self._tail += chunk[max(room, 0) :]
            if len(self._tail) > 2 * TAIL:
                del self._tail[:-TAIL]
        if self._file >= 0:
            self._append(chunk)

    def pump(self, descriptor: int) -> bool:
        """Read what is ready; False at the end of the pipe."""
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return True
        if chunk:
            self.add(chunk)
        return bool(chunk)

    def pump_all(self, descriptor: int, limit: int = 1 << 24) -> None:
        """Read everything in the pipe now. Stops at `limit` when the writer never pauses."""
        until = self.size + limit
        with contextlib.suppress(BlockingIOError):
            while self.size < until and (chunk := os.read(descriptor, _CHUNK)):
                self.add(chunk)

    def spill_from_here(self) -> None:
        """Write everything to the file as well, from the first byte on."""
        if self._file < 0 and self._spill is not None and self.path is None:
            try:
                self._open()
            except OSError:
                self._spill = None
                return
            self._append(bytes(self._head))

    @property
    def head(self) -> bytes:
        return bytes(self._head)

    @property
    def tail(self) -> bytes:
        """The last bytes that are not in `head`."""
        return bytes(self._tail[-TAIL:])

    @property
    def last(self) -> bytes:
        """The last bytes of all."""
        return bytes(self._tail[-_LAST:] or self._head[-_LAST:])

    @property
    def truncated(self) -> bool:
        return self.size > len(self._head)

    def close(self) -> None:
        self._spill = None
        self.flush()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def flush(self) -> None:
        """Write what the filter kept back."""
        if self._file >= 0 and self._filter is not None:
            self._write(self._filter.rest())

    def _open(self) -> None:
        assert self._spill is not None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        self._file = os.open(self._spill, flags, 0o600)
        self.path = self._spill

    def _append(self, chunk: bytes) -> None:
        self._write(chunk if self._filter is None else self._filter.take(chunk))

    def _write(self, chunk: bytes) -> None:
        data = memoryview(chunk)[: self._file_limit - self._filed]
        self._filed += len(data)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            self._filter = None
            self.close()
