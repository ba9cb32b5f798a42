"""Whether git tracks a file. Reads the index itself and starts no process."""

from __future__ import annotations

import os
import stat
from itertools import chain
from pathlib import Path

_INDEX_LIMIT = 256 * 1024 * 1024
_FIXED = 62
_EXTENDED = 0x4000


def is_tracked(path: str, repository: str) -> bool:
    """True when the index names `path`, and when the index can't be read."""
    name = os.path.relpath(path, repository).replace(os.sep, "/").encode("utf-8", "surrogateescape")
    git = git_dir(repository)
    if git is None:
        return True
    shared = git.glob("sharedindex.*")
    for file in chain((git / "index",), shared):
        try:
            data = _content(file)
        except FileNotFoundError:
            continue
        except OSError:
            return True
        if data is None or _names(data, name):
            return True
    return False


def _content(file: Path) -> bytes | None:
    """The bytes of a regular file of plausible size; None for anything else."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        found = os.fstat(descriptor)
        return opened.read() if stat.S_ISREG(found.st_mode) and found.st_size <= _INDEX_LIMIT else None


def git_dir(repository: str) -> Path | None:
    """The directory that holds the index: `.git`, or what the file `.git` of a worktree points to."""
    marker = Path(repository, ".git")
    if marker.is_dir():
        return marker
    from checkrein.base.files import read_text

    line = read_text(marker, limit=4096).text.strip()
    target = Path(os.path.normpath(marker.parent / line.removeprefix("gitdir:").strip()))
    return target if line.startswith("gitdir:") and target.is_dir() else None


def _names(data: bytes, name: bytes) -> bool:
    if data[:4] != b"DIRC" or len(data) < 12:
        return True
    version = int.from_bytes(data[4:8], "big")
    if version in (2, 3):
        return name + b"\0" in data
    if version != 4:
        return True
    try:
        return _in_compressed(data, name)
    except IndexError:
        return True


def _in_compressed(data: bytes, name: bytes) -> bool:
    """Version 4: each name holds only its difference from the name before it."""
    at, last = 12, b""
    for _ in range(int.from_bytes(data[8:12], "big")):
        flags = data[at + 60] << 8 | data[at + 61]
        at += _FIXED + (2 if flags & _EXTENDED else 0)
        byte = data[at]
        cut = byte & 0x7F
        while byte & 0x80:
            at += 1
            byte = data[at]
            cut = (cut + 1) << 7 | byte & 0x7F
        end = data.index(b"\0", at + 1) if b"\0" in data[at + 1 : at + 8192] else -1
        if end < 0:
            raise IndexError
        last = last[: len(last) - cut] + data[at + 1 : end]
        at = end + 1
        if last == name:
            return True
    return False
