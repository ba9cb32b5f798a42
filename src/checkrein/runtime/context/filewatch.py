"""Files that FileChanged hooks name: how they changed since the last look."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Literal

Change = Literal["change", "add", "unlink"]
_MOST_WATCHED = 200


class FileWatch:
    """The files that FileChanged hooks name: basenames in the working directory, and what hooks add."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, int] | None] = {}

    def add(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path not in self._seen and len(self._seen) < _MOST_WATCHED:
                self._seen[path] = _stamp(path)

    def changes(self) -> list[tuple[str, Change]]:
        found: list[tuple[str, Change]] = []
        for path, before in self._seen.items():
            now = _stamp(path)
            if now != before:
                found.append((path, "add" if before is None else "unlink" if now is None else "change"))
        self._seen.update({path: _stamp(path) for path, _ in found})
        return found


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
