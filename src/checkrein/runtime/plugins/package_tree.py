"""The files of a plugin on their way into the cache: plain files only, bounded, with one hash of them all."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator

from msgspec import Struct

from checkrein.base.errors import FileError
from checkrein.base.files import beneath
from checkrein.base.harmless import one_line

MOST_BYTES = 256 << 20
MOST_ENTRIES = 20_000
_DEEPEST = 32
_BLOCK = 1 << 20
_SKIPPED = frozenset({".git"})
_LONGEST_SHOWN = 200
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class UnsafePackageError(FileError):
    """The files of a plugin or marketplace can't be taken; nothing has changed."""

    default_kind = "package_refused"


class Entry(Struct, frozen=True):
    """A file of a package: `real` is where its content is."""

    path: str
    real: str
    executable: bool


def require_name(path: str) -> str:
    """A relative path that leads to a place inside, on every system. Raises UnsafePackageError."""
    parts = path.split("/")
    bad = (
        path.startswith("/")
        or "\\" in path
        or any(part in ("", ".", "..") or len(part.encode("utf-8", "replace")) > 255 for part in parts)
        or any(ord(sign) < 32 or ord(sign) == 127 for sign in path)
        or (len(parts[0]) > 1 and parts[0][1] == ":")
    )
    if any(part.lower() in _SKIPPED for part in parts):
        raise UnsafePackageError(f"{path!r} is part of a repository, which a package may not hold.")
    if bad or len(parts) > _DEEPEST:
        raise UnsafePackageError(
            f"The file name {path!r} leads out of the package, or no system can have it."
        )
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise UnsafePackageError("A file name is not UTF-8.") from None
    if one_line(path) != path:
        raise UnsafePackageError(f"The file name {path!a} holds characters that nobody can see.")
    return path


class Budget:
    """Counts what a package takes. Raises UnsafePackageError for too much, and for one name twice."""

    def __init__(self, most_bytes: int = MOST_BYTES, most_entries: int = MOST_ENTRIES) -> None:
        self._bytes, self._entries = most_bytes, most_entries
        self._seen: set[str] = set()

    def folder(self) -> None:
        self._entries -= 1
        if self._entries < 0:
            raise UnsafePackageError(f"The package has more than {MOST_ENTRIES} files and folders.")

    def entry(self, path: str) -> None:
        self.folder()
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
        if folded in self._seen:
            raise UnsafePackageError(
                f"Two files have the name {path!r}, apart from upper and lower case and accents."
            )
        self._seen.add(folded)

    def take(self, size: int) -> None:
        self._bytes -= size
        if self._bytes < 0:
            raise UnsafePackageError(f"The package has more than {MOST_BYTES >> 20} MiB.")


def entries(root: str, budget: Budget | None = None) -> Iterator[Entry]:
    """The files below a directory by name. A link counts as what it leads to, if that is inside: links to
    folders with links multiply, so folders count in the `budget` too."""
    real_root = os.path.realpath(root)
    pending = [("", root)]
    while pending:
        prefix, folder = pending.pop()
        for one in sorted(os.scandir(folder), key=lambda entry: entry.name):
            path = f"{prefix}{one.name}"
            if one.name in _SKIPPED:
                continue
            require_name(path)
            real = os.path.realpath(one.path)
            if not beneath(real, real_root):
                raise UnsafePackageError(f"{path!r} is a link that leads out of the package.")
            mode = os.stat(real).st_mode if os.path.lexists(real) else 0
            if one.is_symlink() and stat.S_ISDIR(mode) and beneath(os.path.realpath(folder), real):
                raise UnsafePackageError(f"{path!r} is a link to a folder that holds it.")
            if stat.S_ISDIR(mode):
                if budget is not None:
                    budget.folder()
                pending.append((f"{path}/", one.path))
            elif stat.S_ISREG(mode):
                yield Entry(path, real, bool(mode & 0o111))
            else:
                raise UnsafePackageError(f"{path!r} is not a plain file.")


def copy_tree(source: str, target: str) -> None:
    """Copy the files of a directory into a new one. Raises UnsafePackageError."""
    budget = Budget()
    os.mkdir(target, 0o700)
    for entry in entries(source, budget):
        budget.entry(entry.path)
        descriptor = os.open(entry.real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            put_file(target, entry.path, iter(lambda: file.read(_BLOCK), b""), entry.executable, budget)


def put_file(target: str, path: str, blocks: Iterator[bytes], executable: bool, budget: Budget) -> None:
    """Write one file of a package below `target`. Raises UnsafePackageError where it can have no place: its
    name is too long, or another file has the name of its folder."""
    place = os.path.join(target, *path.split("/"))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        descriptor = os.open(place, flags, 0o700 if executable else 0o600)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise
        shown = path if len(path) < _LONGEST_SHOWN else f"{path[:_LONGEST_SHOWN]}…"
        raise UnsafePackageError(f"{shown!r} can't be a file: {error.strerror}.") from None
    with os.fdopen(descriptor, "wb") as file:
        for block in blocks:
            budget.take(len(block))
            file.write(block)


def content_hash(root: str) -> str:
    """`sha256:…` over names, executable bits and contents of all files."""
    whole = hashlib.sha256()
    for entry in sorted(entries(root), key=lambda one: one.path):
        with open(entry.real, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{'x' if entry.executable else '-'} {digest} {entry.path}\n".encode())
    return f"sha256:{whole.hexdigest()}"
