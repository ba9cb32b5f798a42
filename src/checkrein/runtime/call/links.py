"""The symbolic links that are in the file system now, in the form that `decide` reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

_MOST = 20_000
"""How many entries of directories one call looks at."""


class LiveLinks(Mapping[str, str]):
    """Maps a path to the target of the link there. Asks the file system once per path and call."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}
        self._listed: dict[str, tuple[tuple[str, ...], tuple[str, ...]] | None] = {}
        self._seen = 0

    def __getitem__(self, path: str) -> str:
        if path not in self._known:
            try:
                self._known[path] = os.readlink(path)
            except (OSError, ValueError):
                self._known[path] = None
        target = self._known[path]
        if target is None:
            raise KeyError(path)
        return target

    def listed(self, directory: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The names of the links and of the directories in a directory; None when there are too many."""
        if directory not in self._listed:
            self._listed[directory] = self._scan(directory)
        return self._listed[directory]

    def _scan(self, directory: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        links: list[str] = []
        directories: list[str] = []
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    self._seen += 1
                    if self._seen > _MOST:
                        return None
                    if entry.is_symlink():
                        links.append(entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        directories.append(entry.name)
        except (OSError, ValueError):
            return (), ()
        return tuple(links), tuple(directories)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return sum(target is not None for target in self._known.values())

    def __iter__(self) -> Iterator[str]:
        return (path for path, target in self._known.items() if target is not None)
