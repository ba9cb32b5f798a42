"""The files that deny rules mean, as they are on the disk now: the kernel needs files, not patterns.

A search goes through the directories below a pattern's start, at most `_MOST` entries of them. It remembers
each directory with its time of change, so the next search asks only for that.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from checkrein.policy.file_denies import FileDeny

_MOST = 200_000
_RECENT_NS = 100_000_000
"""A directory that changed this shortly before may change again without a new time: the clock is coarse."""
_ELSEWHERE = ("/proc", "/sys", "/dev", "/run")


class Found(Struct, frozen=True, kw_only=True):
    """`paths` are real paths of denied files and directories, each with its rule; `names` are the other names
    of denied files with several (hard links). `complete` is false when there was too much to search."""

    paths: dict[str, FileDeny]
    names: dict[str, FileDeny]
    complete: bool = True

    @property
    def every(self) -> tuple[str, ...]:
        return (*self.paths, *self.names)


class _Listing(Struct, frozen=True):
    changed: int
    folders: tuple[str, ...]
    files: tuple[tuple[str, int], ...]
    """Names and inode numbers; links are among them."""


class Search:
    """Keeps what it saw of directories. Not for several threads at once."""

    def __init__(self) -> None:
        self._listings: dict[str, _Listing] = {}
        self._left = 0

    def find(self, denies: Iterable[FileDeny], roots: tuple[str, ...] = ()) -> Found:
        """`roots` are searched for patterns that float below the root of the file system, before the rest."""
        self._left = _MOST
        paths: dict[str, FileDeny] = {}
        for deny in denies:
            if deny.literal:
                _add(paths, deny.start, deny)
                continue
            matches = re.compile(deny.expression).match
            for start in _starts(deny, roots):
                for path in self._matching(start, deny.base, matches):
                    _add(paths, path, deny)
        names = self._other_names(paths, roots)
        return Found(paths=paths, names=names, complete=self._left > 0)

    def _matching(self, start: str, base: str, matches: Callable[[str], object]) -> Iterator[str]:
        cut = len(base.rstrip("/")) + 1
        pending = [start]
        if start != base and matches(start[cut:]):
            yield start
            return
        while pending and self._left > 0:
            directory = pending.pop()
            listing = self._listing(directory)
            if listing is None:
                continue
            prefix = directory.rstrip("/") + "/"
            self._left -= 1 + len(listing.folders) + len(listing.files)
            for name in listing.folders:
                path = prefix + name
                if matches(path[cut:]) or matches(path[cut:] + "/"):
                    yield path
                elif path not in _ELSEWHERE:
                    pending.append(path)
            for name, _ in listing.files:
                if matches((prefix + name)[cut:]):
                    yield prefix + name

    def _other_names(self, paths: dict[str, FileDeny], roots: tuple[str, ...]) -> dict[str, FileDeny]:
        linked: dict[int, tuple[int, FileDeny, str]] = {}
        for path, deny in paths.items():
            try:
                about = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(about.st_mode) and about.st_nlink > 1:
                linked[about.st_ino] = (about.st_dev, deny, path)
        names: dict[str, FileDeny] = {}
        if not linked:
            return names
        starts = dict.fromkeys((*roots, *(os.path.dirname(one[2]) for one in linked.values())))
        pending = list(starts)
        seen: set[str] = set()
        while pending and self._left > 0:
            directory = pending.pop()
            listing = self._listing(directory) if directory not in seen else None
            seen.add(directory)
            if listing is None:
                continue
            self._left -= 1 + len(listing.folders) + len(listing.files)
            prefix = directory.rstrip("/") + "/"
            pending += [prefix + name for name in listing.folders if prefix + name not in _ELSEWHERE]
            for name, inode in listing.files:
                if inode in linked and (path := prefix + name) not in paths:
                    device, deny, _ = linked[inode]
                    if _device(path) == device:
                        names[path] = deny
        return names

    def _listing(self, directory: str) -> _Listing | None:
        try:
            changed = os.stat(directory).st_mtime_ns
            known = self._listings.get(directory)
            if known is not None and known.changed == changed:
                return known
            folders, files = [], []
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    else:
                        files.append((entry.name, entry.inode()))
        except OSError:
            return None
        made = _Listing(changed, tuple(folders), tuple(files))
        if time.time_ns() - changed > _RECENT_NS:
            self._listings[directory] = made
        return made


def _device(path: str) -> int | None:
    try:
        return os.lstat(path).st_dev
    except OSError:
        return None


def _starts(deny: FileDeny, roots: tuple[str, ...]) -> tuple[str, ...]:
    """Where to look. The whole file system comes last, so that the limit does not hit what matters."""
    if deny.start == "/":
        return (*roots, "/")
    return (deny.start,) if os.path.isdir(deny.start) else ()


def _add(paths: dict[str, FileDeny], path: str, deny: FileDeny) -> None:
    """Note the path, and what it leads to if it is a link."""
    if os.path.lexists(path):
        paths.setdefault(os.path.realpath(path), deny)
        above = os.path.realpath(os.path.dirname(path))
        if not os.path.islink(path):
            paths.setdefault(os.path.join(above, os.path.basename(path)), deny)
