"""Protected files: the settings, hooks and rules of a project stay as they were, whatever a command does.

`ProtectedFiles` knows their content and compares it when a command begins and ends. A change that no running
command may make is undone, and what the command had put there is kept aside. Between commands the user may
change these files: it then learns the new state. It does not while a command runs, also in the background.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

from checkrein.facts.shell_paths import KEPT_PLACES

Change = Literal["changed", "made", "removed", "replaced", "mode"]
_LARGEST = 1 << 20
_MOST_ENTRIES = 2000
_PASSES = 4
_DEEPEST = 6
_RECENT_NS = 100_000_000
"""A file that changed this shortly before may change again without new times: their clock is coarse."""
_SAMPLE = ".sample"


class Entry(Struct, frozen=True):
    """What a path is. `stamp` changes with every change; `data` is a file's content or a link's target, None
    for a directory and for a file that is too large to keep."""

    kind: int
    mode: int
    stamp: tuple[int, ...]
    data: bytes | None = None


class Restored(Struct, frozen=True, kw_only=True):
    """A change that was undone. `kept` is where the other version is now; `failed` says why the change could
    not be undone."""

    path: str
    change: Change
    kept: str | None = None
    failed: str | None = None

    def __str__(self) -> str:
        if self.failed:
            return f"`{self.path}` could not be restored: the command {_VERBS[self.change]} it. {self.failed}"
        kept = f" The other version is in {self.kept}." if self.kept else ""
        return f"`{self.path}` was restored: the command {_VERBS[self.change]} it, no rule allows that.{kept}"


_VERBS: dict[Change, str] = {
    "changed": "changed",
    "made": "made",
    "removed": "removed",
    "replaced": "replaced",
    "mode": "changed the mode of",
}
Allows = Callable[[str], bool]


class ProtectedFiles:
    """For one session. Safe to use from several threads. `roots` are the directories whose places are
    protected; `aside` is a directory for what commands had put there. `told` hears of each change that was
    undone, at once."""

    def __init__(
        self,
        roots: tuple[str, ...],
        aside: str,
        *,
        places: tuple[str, ...] = KEPT_PLACES,
        told: Callable[[Restored], object] = lambda restored: None,
    ) -> None:
        self._roots = tuple(dict.fromkeys(os.path.realpath(root) for root in roots))
        self._aside = aside
        self._places = places
        self._told = told
        self._lock = threading.Lock()
        self._known: dict[str, Entry] = {}
        self._running: dict[int, Allows] = {}
        self._unsaid: list[Restored] = []
        self._count = 0

    def begin(self, allows: Allows) -> int:
        """Call it before a command starts. `allows` says which absolute paths it may change. Returns the
        number of the command for the other methods."""
        with self._lock:
            if self._running:
                self._mend()
            else:
                self._known = self._look()
            self._count += 1
            self._running[self._count] = allows
            return self._count

    def check(self, over: int | None = None) -> tuple[Restored, ...]:
        """Undo what commands may not change. Returns that, and what was undone since the last call. `over` is
        a command that ends with this."""
        with self._lock:
            self._mend()
            if over is not None:
                self._running.pop(over, None)
            said, self._unsaid = tuple(self._unsaid), []
            return said

    def end(self, number: int) -> None:
        """Call it when nothing of the command runs any more."""
        with self._lock:
            if number in self._running:
                self._mend()
                del self._running[number]

    def accept(self, path: str) -> None:
        """A change of this file was approved, and a tool made it: learn the new state."""
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        with self._lock:
            now = self._look()
            for known in {*self._known, *now}:
                if known == path or path.startswith(known + "/"):
                    _set(self._known, known, now.get(known))

    def _look(self) -> dict[str, Entry]:
        now: dict[str, Entry] = {}
        for root in self._roots:
            for place in self._places:
                above = os.path.dirname(place)
                if above:
                    _look_at(now, f"{root}/{above}", self._known, 0)
                _look_at(now, f"{root}/{place}", self._known, len(now) + _MOST_ENTRIES)
        for path in self._known:
            _look_at(now, path, self._known, 0)
        return now

    def _mend(self) -> None:
        """A second look follows each repair: a directory that came back may lack what was in it."""
        seen: set[str] = set()
        for _ in range(_PASSES):
            restored = [one for one in self._undo_all() if one.path not in seen]
            if not restored:
                return
            for one in restored:
                seen.add(one.path)
                self._unsaid.append(one)
                self._told(one)

    def _undo_all(self) -> list[Restored]:
        now = self._look()
        fresh_git = {root for root in self._roots if f"{root}/.git" not in self._known}
        restored: list[Restored] = []
        for path in sorted({*self._known, *now}):
            before, after = self._known.get(path), now.get(path)
            change = _change(before, after)
            if change is None or _is_harmless(path, before, after, fresh_git) or self._allowed(path):
                _set(self._known, path, after)
            elif not any(path.startswith(one.path + "/") for one in restored):
                restored.append(self._undo(path, before, change))
        return restored

    def _allowed(self, path: str) -> bool:
        return any(allows(path) for allows in self._running.values())

    def _undo(self, path: str, before: Entry | None, change: Change) -> Restored:
        kept = None
        try:
            root = next(root for root in self._roots if path.startswith(root + "/"))
            with self._directory(root, os.path.dirname(path)) as parent:
                name = os.path.basename(path)
                if before is None or change == "replaced":
                    kept = self._set_aside(path, name, parent)
                elif change == "changed":
                    kept = self._copy_aside(path, name, parent)
                if before is not None:
                    _put(before, name, parent, mode_only=change == "mode")
        except OSError as error:
            return Restored(path=path, change=change, kept=kept, failed=error.strerror or str(error))
        found: dict[str, Entry] = {}
        _look_at(found, path, {}, 0)
        _set(self._known, path, found.get(path))
        return Restored(path=path, change=change, kept=kept)

    def _set_aside(self, path: str, name: str, parent: int) -> str | None:
        target = self._free(path)
        try:
            os.rename(name, target, src_dir_fd=parent)
        except FileNotFoundError:
            return None
        except OSError:
            import shutil

            shutil.move(f"/proc/self/fd/{parent}/{name}", target)
        return target

    def _copy_aside(self, path: str, name: str, parent: int) -> str | None:
        data = _content(name, parent)
        if data is None:
            return None
        target = self._free(path)
        with open(target, "xb") as file:
            file.write(data)
        return target

    def _free(self, path: str) -> str:
        os.makedirs(self._aside, mode=0o700, exist_ok=True)
        name = os.path.basename(path).lstrip(".")
        return os.path.join(self._aside, f"{os.urandom(4).hex()}-{name}")

    @contextlib.contextmanager
    def _directory(self, root: str, path: str) -> Iterator[int]:
        """A descriptor of a directory below the root; what is missing is made. Follows only links that were
        there before, which are restored by now."""
        here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            place = root
            for name in path[len(root) + 1 :].split("/") if path != root else ():
                place = f"{place}/{name}"
                known = self._known.get(place)
                follow = known is not None and known.kind == stat.S_IFLNK
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=here)
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
                below = os.open(name, flags, dir_fd=here)
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)


def _set(known: dict[str, Entry], path: str, entry: Entry | None) -> None:
    if entry is None:
        known.pop(path, None)
    else:
        known[path] = entry


def _look_at(into: dict[str, Entry], path: str, known: dict[str, Entry], most: int, depth: int = 0) -> None:
    """Note what is at a path, and what is below it until there are `most` entries. Follows no link."""
    if path in into and not most:
        return
    try:
        about = os.lstat(path)
    except OSError:
        return
    into[path] = _entry(path, about, known.get(path))
    if not stat.S_ISDIR(about.st_mode) or depth >= _DEEPEST or len(into) >= most:
        return
    with contextlib.suppress(OSError):
        for name in os.listdir(path):
            if len(into) >= most:
                return
            if not name.endswith(_SAMPLE):
                _look_at(into, f"{path}/{name}", known, most, depth + 1)


def _entry(path: str, about: os.stat_result, known: Entry | None) -> Entry:
    kind, mode = stat.S_IFMT(about.st_mode), stat.S_IMODE(about.st_mode)
    if kind == stat.S_IFDIR:
        return Entry(kind, mode, ())
    stamp = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    if known is not None and known.stamp == stamp and time.time_ns() - about.st_ctime_ns > _RECENT_NS:
        return known
    if kind == stat.S_IFLNK:
        with contextlib.suppress(OSError):
            return Entry(kind, mode, stamp, os.fsencode(os.readlink(path)))
    if kind == stat.S_IFREG and about.st_size <= _LARGEST:
        return Entry(kind, mode, stamp, _content(path))
    return Entry(kind, mode, stamp)


def _content(path: str, parent: int | None = None) -> bytes | None:
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
        with open(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file.read(_LARGEST + 1)
    return None


def _change(before: Entry | None, after: Entry | None) -> Change | None:
    if before is None or after is None:
        return None if before is after else "made" if before is None else "removed"
    if before.kind != after.kind or (before.kind == stat.S_IFLNK and before.data != after.data):
        return "replaced"
    if before.data != after.data or (before.data is None and before.stamp != after.stamp):
        return "changed"
    return "mode" if before.mode != after.mode else None


def _is_harmless(path: str, before: Entry | None, after: Entry | None, fresh_git: set[str]) -> bool:
    """A new directory is empty at first, and a new repository has only git's own hooks."""
    if before is None and after is not None and after.kind == stat.S_IFDIR:
        return True
    return any(path == f"{root}/.git" or path.startswith(f"{root}/.git/") for root in fresh_git)


def _put(entry: Entry, name: str, parent: int, *, mode_only: bool) -> None:
    """Make the entry again, in one step."""
    if entry.kind == stat.S_IFDIR:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
        _set_mode(name, parent, entry.mode)
        return
    if mode_only:
        _set_mode(name, parent, entry.mode)
        return
    if entry.data is None:
        raise OSError(0, "it was too large to keep a copy")
    fresh = f".checkrein-{os.urandom(6).hex()}"
    if entry.kind == stat.S_IFLNK:
        os.symlink(os.fsdecode(entry.data), fresh, dir_fd=parent)
    else:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(fresh, flags, 0o600, dir_fd=parent)
        with open(descriptor, "wb") as file:
            file.write(entry.data)
            os.fchmod(descriptor, entry.mode)
    try:
        os.replace(fresh, name, src_dir_fd=parent, dst_dir_fd=parent)
    except OSError:
        os.unlink(fresh, dir_fd=parent)
        raise


def _set_mode(name: str, parent: int, mode: int) -> None:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)
