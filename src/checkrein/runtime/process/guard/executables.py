"""The executables that a list of names stands for, and which of the names another executable deserves."""

from __future__ import annotations

import os
import stat
import time

from checkrein.runtime.process.guard.identity import File, Files, Key, key_of
from checkrein.runtime.process.guard.kinds import Kinds
from checkrein.runtime.process.guard.launcher import DEFAULT_PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MULTI_CALL = frozenset({b"busybox", b"toybox", b"coreutils"})
"""Their first argument can name the program that they are."""
_BY_NAME = frozenset({*MULTI_CALL, b"systemctl", b"rustup", b"bzip2", b"xz", b"zstd", b"lz4", b"pigz"})
"""They are another program under another name."""
_MANY_NAMES = 6
"""A file with so many links on PATH is another program under each of them."""
_SMALL = 1 << 22
"""The content of such a file is noted at once: nobody can change it before a copy of it starts."""
_BORN = time.time_ns()


class Executables:
    """Names (or paths) of programs, looked up in the directories of a PATH and in the usual ones."""

    def __init__(self, names: Iterable[str], path: str, cwd: str, files: Files) -> None:
        self.names = frozenset(names)
        self._files = files
        self._directories = _directories(path, cwd)
        self._by_inode: dict[tuple[int, int], set[str]] = {}
        self._by_build: dict[bytes, set[str]] = {}
        self._by_size: dict[int, list[tuple[str, str, File]]] = {}
        self._own_names: dict[tuple[int, int], frozenset[bytes]] = {}
        self.has_scripts = False
        self.plain: dict[tuple[Key, bytes, bytes], tuple[str, set[str], File]] = {}
        """Path, names and file of programs that are one program whatever their arguments, as they were
        started."""
        self.kinds = files.kinds.setdefault(path, Kinds(path, files))
        self._found: dict[str, Key] = {}
        for name in self.names:
            places = (name,) if "/" in name else (f"{one}/{name}" for one in self._directories)
            for place in places:
                self._add(name, os.path.join(cwd, place))

    @property
    def is_current(self) -> bool:
        """The names still stand for the same files. (A new directory entry counts as a change.)"""
        try:
            now = {one: os.stat(one).st_mtime_ns for one in self._directories}
            return now == self._directories and all(
                key_of(os.stat(path)) == key for path, key in self._found.items()
            )
        except OSError:
            return False

    def names_of(self, file: File, path: str, given: Iterable[bytes], home: str = "") -> set[str]:
        """The names whose executable is this file, by number, build or content. `path` opens it; `given` are
        the names that it was started under; `home` is its directory."""
        names = set(self._by_inode.get(file.inode, ()))
        own = self._own_names.get(file.inode)
        if own is not None and any(one in own for one in given):
            names.clear()
        if file.build is not None:
            names |= {name for name in self._by_build.get(file.build, ()) if own is None}
        for name, place, other in self._by_size.get(file.size, ()):
            if name in names or own is not None or other.inode == file.inode:
                continue
            if file.interpreter and home == os.path.dirname(place):
                continue  # shims: one script under many names
            content = other.digest(place)
            if not content or file.digest(path) == content:
                names.add(name)
        return names

    def admits(self, file: File, names: set[str]) -> bool:
        """The file is one of these executables, and under its own name where the name matters."""
        if file.inode in self._own_names:
            return not names.isdisjoint(self.names)
        same_build = file.build is not None and file.build in self._by_build
        return file.inode in self._by_inode or same_build

    def _add(self, name: str, place: str) -> None:
        try:
            descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                return
            file = self._files.at(descriptor)
            self._found[place] = file.key
            real = os.readlink(f"/proc/self/fd/{descriptor}")
        finally:
            os.close(descriptor)
        self._by_inode.setdefault(file.inode, set()).add(name)
        self.has_scripts |= file.interpreter is not None
        own = self._other_programs(os.path.basename(name), place, real, about)
        if own:
            self._own_names[file.inode] = own
        elif file.build is not None:
            self._by_build.setdefault(file.build, set()).add(name)
        else:
            self._by_size.setdefault(file.size, []).append((name, place, file))
            if file.size <= _SMALL:
                file.digest(place)

    def _other_programs(self, name: str, place: str, real: str, about: os.stat_result) -> frozenset[bytes]:
        """The names under which this file is another program. A program with its own name has none: whoever
        links to it gives it more names."""
        inode = about.st_dev, about.st_ino
        base = os.path.basename(real)
        if real != place and base != name:
            own = self._names_on_path(inode)
            return own if len(own) >= _MANY_NAMES or os.fsencode(base) in _BY_NAME else frozenset()
        if about.st_nlink > 1 and about.st_ctime_ns < _BORN:
            own = self._names_on_path(inode)
            return own if own & _BY_NAME else frozenset()
        return frozenset()

    def _names_on_path(self, inode: tuple[int, int]) -> frozenset[bytes]:
        found = set()
        for directory in self._directories:
            try:
                entries = list(os.scandir(os.fsencode(directory)))
            except OSError:
                continue
            for entry in entries:
                try:
                    if entry.is_symlink() or entry.inode() == inode[1]:
                        about = entry.stat()
                        if (about.st_dev, about.st_ino) == inode:
                            found.add(entry.name)
                except OSError:
                    continue
        return frozenset(found)


def _directories(path: str, cwd: str) -> dict[str, int]:
    """Each directory once, with the time of its last change."""
    seen, found = set(), {}
    for one in (*path.split(":"), *DEFAULT_PATH.split(":")):
        place = os.path.join(cwd, one)
        try:
            about = os.stat(place)
        except OSError:
            continue
        if (about.st_dev, about.st_ino) not in seen:
            seen.add((about.st_dev, about.st_ino))
            found[place] = about.st_mtime_ns
    return found
