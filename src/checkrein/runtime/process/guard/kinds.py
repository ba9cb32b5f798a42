"""The loaders, interpreters and multi-call programs of the machine: a copy of one is one, under any name."""

from __future__ import annotations

import os

from checkrein.runtime.process.guard.launcher import DEFAULT_PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from checkrein.runtime.process.guard.identity import File, Files

_NAMES = (
    *("sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python2", "python3", "pypy3", "perl", "ruby"),
    *("node", "nodejs", "php", "lua", "tclsh", "deno", "bun", "awk", "gawk", "mawk", "busybox", "toybox"),
)


class Kinds:
    """Looks for them when it is first asked, in the directories of a PATH and in the usual ones."""

    def __init__(self, path: str, files: Files) -> None:
        self._path = path
        self._files = files
        self._by_inode: dict[tuple[int, int], bytes] = {}
        self._by_build: dict[bytes, bytes] = {}
        self._by_size: dict[int, list[tuple[bytes, str, File]]] = {}
        self._is_filled = False

    def names(self, file: File, path: str) -> list[bytes]:
        """Which of them this file is. `path` opens it."""
        if not self._is_filled:
            self._fill()
        if file.interpreter is not None:
            return []
        name = self._by_inode.get(file.inode)
        if name is None and file.build is not None:
            name = self._by_build.get(file.build)
        if name is not None:
            return [name]
        same = self._by_size.get(file.size, ())
        return [name for name, place, other in same if file.digest(path) == other.digest(place) != b""]

    def _fill(self) -> None:
        self._is_filled = True
        for place in self._places():
            try:
                descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                file = self._files.at(descriptor)
            except OSError:
                continue
            finally:
                os.close(descriptor)
            name = os.fsencode(os.path.basename(place))
            self._by_inode.setdefault(file.inode, name)
            if file.build is not None:
                self._by_build.setdefault(file.build, name)
            elif file.interpreter is None:
                self._by_size.setdefault(file.size, []).append((name, place, file))

    def _places(self) -> Iterator[str]:
        libraries = [f"/{name}" for name in _entries("/") if name.startswith("lib")]
        for directory in (*libraries, *(f"/lib/{name}" for name in _entries("/lib"))):
            for name in _entries(directory):
                if name.startswith("ld-") and ".so" in name:
                    yield f"{directory}/{name}"
        for directory in dict.fromkeys((*self._path.split(":"), *DEFAULT_PATH.split(":"))):
            if os.path.isabs(directory):
                yield from (f"{directory}/{name}" for name in _NAMES)


def _entries(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []
