"""The symbolic links that are in the file system now, in the form that `decide` reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping


class LiveLinks(Mapping[str, str]):
    """Maps a path to the target of the link there. Asks the file system once per path and call."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}

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

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return sum(target is not None for target in self._known.values())

    def __iter__(self) -> Iterator[str]:
        return (path for path, target in self._known.items() if target is not None)
