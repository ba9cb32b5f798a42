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
    of denied files with several (hard links), `linked` their devices and inodes. `complete` is false when
    there was too much to search."""

    paths: dict[str, FileDeny]
    names: dict[str, FileDeny]
    linked: tuple[tuple[int, int], ...] = ()
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
        linked: dict[tuple[int, int], FileDeny] = {}
        for path, deny in paths.items():
            linked |= dict.fromkeys(self._linked(path), deny)
        names = self._other_names(paths, linked, roots) if linked else {}
        return Found(paths=paths, names=names, linked=tuple(linked), complete=self._left > 0)

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

    def _other_names(
        self,
        paths: dict[str, FileDeny],
        linked: dict[tuple[int, int], FileDeny],
        roots: tuple[str, ...],
    ) -> dict[str, FileDeny]:
        inodes = {inode for _, inode in linked}
        names: dict[str, FileDeny] = {}
        for path, inode in self._files((*roots, *(os.path.dirname(path) for path in paths))):
            if inode in inodes and not any(_is_in(path, one) for one in paths):
                found = linked.get((_device(path), inode))
                if found is not None:
                    names[path] = found
        return names

    def _linked(self, path: str) -> Iterator[tuple[int, int]]:
        """The files with several names at or below a path."""
        below = [one for one, _ in self._files((path,))] if os.path.isdir(path) else [path]
        for one in below:
            try:
                about = os.lstat(one)
            except OSError:
                continue
            if about.st_nlink > 1 and stat.S_ISREG(about.st_mode):
                yield about.st_dev, about.st_ino

    def _files(self, starts: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Everything that is not a directory, with its inode number."""
        pending = list(dict.fromkeys(starts))
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
            yield from ((prefix + name, inode) for name, inode in listing.files)

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


def _device(path: str) -> int:
    try:
        return os.lstat(path).st_dev
    except OSError:
        return -1


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place + "/")


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
