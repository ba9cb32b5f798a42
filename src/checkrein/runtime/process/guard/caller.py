"""A thread that waits in exec: the words that it gave, read from its memory, and where it stands."""

from __future__ import annotations

import errno
import os
import struct

from checkrein.runtime.process.guard import peek

_EMPTY_PATH = 0x1000
_CURRENT_DIRECTORY = -100
_LONGEST_PATH = 4096
_MOST_WORDS = 1 << 20
_MOST_BYTES = 1 << 24
_NEAR = 1 << 16
_UNTAGGED = (1 << 56) - 1
_POINTERS = 64
_NAME = 256


class UnreadableError(Exception):
    """What the caller gave can't be read; the error is for the caller. `reason` is set when that is a refusal
    of ours and not what the kernel would say."""

    def __init__(self, number: int, reason: str = "") -> None:
        super().__init__(number, reason)
        self.number = number
        self.reason = reason


class Caller:
    """`path` and `argv` as given. `base` is the directory that a relative path starts from, and `empty` says
    that there is no path: the descriptor itself is the program."""

    def __init__(self, pid: int, path: bytes, argv: list[bytes], descriptor: int, empty: bool) -> None:
        self.pid = pid
        self.path = path
        self.argv = argv
        self.empty = empty
        self._descriptor = descriptor
        place = "cwd" if descriptor == _CURRENT_DIRECTORY else f"fd/{descriptor}"
        self.base = f"/proc/{pid}/{place}"

    @property
    def name_for_interpreter(self) -> bytes:
        """The path that the kernel hands to the interpreter of a script."""
        if self._descriptor == _CURRENT_DIRECTORY or self.path[:1] == b"/":
            return self.path
        return b"/dev/fd/%d" % self._descriptor + (b"/" + self.path if self.path else b"")

    @property
    def cwd(self) -> str:
        try:
            return os.readlink(f"/proc/{self.pid}/cwd")
        except OSError:
            return "?"


def read_caller(pid: int, is_at: bool, arguments: tuple[int, ...]) -> Caller:
    """From the arguments of execve, or of execveat."""
    descriptor, flags = _CURRENT_DIRECTORY, 0
    if is_at:
        descriptor = arguments[0] & 0xFFFF_FFFF
        descriptor -= (descriptor & 0x8000_0000) << 1
        flags = arguments[4]
        arguments = arguments[1:]
    path_at, argv_at = arguments[0] & _UNTAGGED, arguments[1] & _UNTAGGED
    path, argv = _short(pid, path_at, argv_at) or _any(pid, path_at, argv_at)
    if not path and not flags & _EMPTY_PATH:
        raise UnreadableError(errno.ENOENT)
    return Caller(pid, path, argv, descriptor, not path)


def _short(pid: int, path_at: int, argv_at: int) -> tuple[bytes, list[bytes]] | None:
    """What nearly every caller gives: a path and a few words, close together. None for anything else."""
    first, second = peek.within_page(path_at, _NAME), peek.within_page(argv_at, _POINTERS * 8) & ~7
    if not second or peek.read(pid, (path_at, first), (argv_at, second)) != first + second:
        return None
    found = peek.found
    end = found.find(0, 0, first)
    pointers = struct.unpack_from(f"={second // 8}Q", found, first)
    if end < 0 or not pointers[0] or 0 not in pointers:
        return None
    path = bytes(found[:end])
    pointers = pointers[: pointers.index(0)]
    start, last = min(pointers), max(pointers)
    if last - start >= _NEAR:
        return None
    size = peek.read(pid, (start, last - start + 512))
    argv = []
    for pointer in pointers:
        at = pointer - start
        end = found.find(0, at, size) if size > at else -1
        if end < 0:
            return None
        argv.append(bytes(found[at:end]))
    return path, argv


def _any(pid: int, path_at: int, argv_at: int) -> tuple[bytes, list[bytes]]:
    try:
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        why = f"the memory of process {pid} can't be read ({error.strerror})"
        raise UnreadableError(errno.EACCES, why) from error
    try:
        return _text(memory, path_at, _LONGEST_PATH), _words(memory, argv_at)
    except (OSError, OverflowError) as error:
        raise UnreadableError(errno.EFAULT) from error
    finally:
        os.close(memory)


def _text(memory: int, address: int, limit: int) -> bytes:
    data = os.pread(memory, _NAME, address)
    while (end := data.find(0)) < 0:
        if len(data) > limit:
            raise UnreadableError(errno.ENAMETOOLONG if limit == _LONGEST_PATH else errno.E2BIG)
        more = os.pread(memory, min(len(data) * 4, 1 << 20), address + len(data))
        if not more:
            raise OSError(errno.EFAULT, "the text has no end")
        data += more
    return data[:end]


def _words(memory: int, address: int) -> list[bytes]:
    """Usually the words lie close together: then one read gets them all."""
    if not address:
        return []
    pointers: list[int] = []
    count = _POINTERS
    while True:
        data = os.pread(memory, count * 8, address + len(pointers) * 8)
        found = struct.unpack(f"={len(data) // 8}Q", data[: len(data) & ~7])
        if 0 in found:
            pointers.extend(found[: found.index(0)])
            break
        pointers.extend(found)
        if not found or len(pointers) > _MOST_WORDS:
            raise UnreadableError(errno.E2BIG if found else errno.EFAULT)
        count *= 4
    if not pointers:
        return []
    pointers = [pointer & _UNTAGGED for pointer in pointers]
    first, last = min(pointers), max(pointers)
    near = os.pread(memory, last - first + 512, first) if last - first < _NEAR else b""
    words, size = [], 0
    for pointer in pointers:
        at = pointer - first
        end = near.find(0, at) if at < len(near) else -1
        word = near[at:end] if end >= 0 else _text(memory, pointer, _MOST_BYTES)
        size += len(word) + 1
        if size > _MOST_BYTES:
            raise UnreadableError(errno.E2BIG)
        words.append(word)
    return words
