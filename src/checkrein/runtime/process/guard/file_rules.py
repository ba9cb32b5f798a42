"""Which paths a command may not write, from plain values that the session sends."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_MOST_ENTRIES = 20_000


class Reason:
    """A path that may not be written. `key` is the number of the rule, -1 for a bound without one."""

    __slots__ = ("key", "path")

    def __init__(self, path: str, key: int) -> None:
        self.path = path
        self.key = key


class FileRules:
    """`rules` are (base, expression, start, key): what is below the base and matches is denied. `places` are
    (path, key): the path and what is below it. `files` are (device, inode, key), if they have several
    names. `within` None: no other bound. `names`: the rules are about reading only, and what they deny may
    move to where they deny it too."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._rules: list[tuple[str, Callable[[str], object], str, int]] = [
            (base.rstrip("/") + "/", re.compile(expression).match, start, key)
            for base, expression, start, key in given["rules"]
        ]
        self._places: list[tuple[str, int]] = [tuple(one) for one in given["places"]]
        self._files: dict[tuple[int, int], int] = {(one[0], one[1]): one[2] for one in given["files"]}
        within = given["within"]
        self._within = None if within is None else tuple(within)
        self._names: bool = given["names"]

    def against(self, path: str) -> Reason | None:
        """Why this path may not be written, made or removed."""
        return self._outside(path) or self._denied(path)

    def _outside(self, path: str) -> Reason | None:
        if self._within is not None and not any(_is_in(path, place) for place in self._within):
            return Reason(path, -1)
        return None

    def _denied(self, path: str) -> Reason | None:
        for base, matches, _, key in self._rules:
            if path.startswith(base) and matches(path[len(base) :]):
                return Reason(path, key)
        for place, key in self._places:
            if _is_in(path, place):
                return Reason(path, key)
        return None

    def against_file(self, path: str, about: os.stat_result) -> Reason | None:
        """The same for a file that exists: it may have another, denied name."""
        return self.against_other_name(path, about) or self.against(path)

    def against_other_name(self, path: str, about: os.stat_result) -> Reason | None:
        found = self._files.get((about.st_dev, about.st_ino)) if about.st_nlink > 1 else None
        return None if found is None else Reason(path, found)

    def against_link(self, path: str) -> Reason | None:
        """Why there may not be a link here: a denied path leads through it. What only may not be read stays
        hidden, wherever a link leads."""
        if self._names:
            return self._outside(path)
        for place, key in self._places:
            if place.startswith(path + "/"):
                return Reason(path, key)
        for _, _, start, key in self._rules:
            if start.startswith(path + "/"):
                return Reason(path, key)
        return self.against(path)

    def against_rename(self, old: str, new: str) -> Reason | None:
        """Why what has one name may not get another."""
        outside, denied = self._outside(old) or self._outside(new), self._denied(old)
        if self._names:
            return outside or (denied if denied is not None and self._denied(new) is None else None)
        return outside or denied or self._denied(new)

    def _may_concern(self, *directories: str) -> bool:
        """Whether a denied path can be below one of these."""
        starts = (*(start for _, _, start, _ in self._rules), *(place for place, _ in self._places))
        bounded = self._within is not None
        return bounded or any(_overlap(start, one) for start in starts for one in directories)

    def against_move(self, directory: int, old: str, new: str) -> Reason | None:
        """Why a directory may not move: something in it is denied, before or after. A directory with too much
        to look at may not move either."""
        if not self._may_concern(old, new):
            return None
        left = _MOST_ENTRIES
        pending = [""]
        while pending:
            below = pending.pop()
            with os.scandir(f"/proc/self/fd/{directory}/{below}") as entries:
                for entry in entries:
                    path = f"{below}/{entry.name}" if below else entry.name
                    left -= 1
                    found = self.against_rename(f"{old}/{path}", f"{new}/{path}")
                    if found is not None or left < 0:
                        return found or Reason(old, -1)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(path)
        return None


def _overlap(one: str, other: str) -> bool:
    return _is_in(one, other) or _is_in(other, one)


def _is_in(path: str, place: str) -> bool:
    return path == place or place == "/" or path.startswith(place + "/")
