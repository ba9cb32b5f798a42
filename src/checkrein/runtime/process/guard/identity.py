"""What an executable is, whatever its name: the same file, the same build or the same content as another."""

from __future__ import annotations

import os
import struct

from checkrein.runtime.process.guard.syscalls import ignored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from checkrein.runtime.process.guard.kinds import Kinds

Key = tuple[int, int, int, int, int]

_HEAD = 4096
_SCRIPT_LINE = 256
"""The kernel reads so much of a script's first line."""
_LARGEST_COMPARED = 1 << 28
_NOTES, _BUILD_ID = 4, 3
_MOST_FILES = 20_000


def key_of(found: os.stat_result) -> Key:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class File:
    """One version of one executable. `interpreter` is the program of a script's first line, with its argument
    as given there. `build` is the linker's number for the build."""

    __slots__ = ("_digest", "build", "interpreter", "is_readable", "key")

    def __init__(self, key: Key, head: bytes | None, read_at: Callable[[int, int], bytes]) -> None:
        self.key = key
        self.is_readable = head is not None
        head = head or b""
        self.interpreter = _interpreter(head)
        self.build = _build(head, read_at) if head[:4] == b"\x7fELF" else None
        self._digest: bytes | None = None

    @property
    def inode(self) -> tuple[int, int]:
        return self.key[:2]

    @property
    def size(self) -> int:
        return self.key[2]

    def digest(self, path: str) -> bytes:
        """Of the content. b"" when it can't be read, is too large, or is another one by now."""
        if self._digest is None:
            import hashlib

            try:
                with open(path, "rb") as file:
                    usable = self.size <= _LARGEST_COMPARED and key_of(os.fstat(file.fileno())) == self.key
                    self._digest = hashlib.file_digest(file, "sha256").digest() if usable else b""
            except OSError:
                self._digest = b""
        return self._digest


class Files:
    """The executables seen so far. A changed file is another one: time and size are part of the key."""

    def __init__(self) -> None:
        self._known: dict[Key, File] = {}
        self.kinds: dict[str, Kinds] = {}
        """Found once for each PATH."""

    def at(self, descriptor: int) -> File:
        """Of an open file; it may be open as a path only. Raises OSError."""
        key = key_of(os.fstat(descriptor))
        known = self._known.get(key)
        if known is not None:
            return known
        reading = -1
        try:
            head = None
            with ignored:  # some may be executed but not read
                reading = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
                head = os.pread(reading, _HEAD, 0)
            made = File(key, head, lambda size, offset: os.pread(reading, size, offset))
        finally:
            if reading >= 0:
                os.close(reading)
        if len(self._known) > _MOST_FILES:
            self._known.clear()
        self._known[key] = made
        return made


def _interpreter(head: bytes) -> tuple[bytes, bytes] | None:
    if head[:2] != b"#!":
        return None
    line = head[2:_SCRIPT_LINE].split(b"\n", 1)[0].split(b"\0", 1)[0].strip(b" \t")
    program, _, argument = line.replace(b"\t", b" ", 1).partition(b" ")
    return (program, argument.strip(b" \t")) if program else None


def _build(head: bytes, read_at: Callable[[int, int], bytes]) -> bytes | None:
    """The build id of a 64-bit ELF file. A copy keeps it, also one with bytes added."""
    try:
        table, _, _, _, size, count = struct.unpack_from("<QQIHHH", head, 32)
        for number in range(min(count, 64)):
            at = table + number * size
            entry = head[at : at + 56] if at + 56 <= len(head) else read_at(56, at)
            kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", entry)
            if kind != _NOTES or length > 1 << 16:
                continue
            notes = (
                head[offset : offset + length] if offset + length <= len(head) else read_at(length, offset)
            )
            found = _note(notes)
            if found:
                return found
    except (struct.error, OSError, OverflowError):
        pass
    return None


def _note(notes: bytes) -> bytes | None:
    at = 0
    while at + 12 <= len(notes):
        name, size, kind = struct.unpack_from("<III", notes, at)
        start = at + 12 + (name + 3 & ~3)
        if kind == _BUILD_ID and notes[at + 12 : at + 15] == b"GNU" and size >= 8:
            return notes[start : start + size]
        at = start + (size + 3 & ~3)
    return None
