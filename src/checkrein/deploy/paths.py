"""Paths that deploy may touch: inside the project, and never through a link that leads out of it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

_FORBIDDEN = ("", ".", "..")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\\]")


class Paths:
    """The project's directory, and what is known about its subdirectories."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.real = os.path.realpath(root)
        self._parents: dict[str, str | None] = {}

    def refresh(self) -> None:
        """Forget what is known; the tree may have changed."""
        self._parents.clear()

    def problem(self, path: str) -> str | None:
        """Why deploy may not write a relative path, or None."""
        if _UNPRINTABLE.search(path):
            return "has characters that a path can't have"
        parts = path.split("/")
        if any(part in _FORBIDDEN for part in parts) or path.startswith("/"):
            return "leads out of the project"
        if parts[0] == ".git" or ".git" in parts:
            return "is among the repository's own files"
        if len(path) > 60 and any(len(part.encode()) > 255 for part in parts):
            return "has a name that is too long"
        return self._parent_problem("/".join(parts[:-1]))

    def _parent_problem(self, parent: str) -> str | None:
        if parent not in self._parents:
            above = self._parent_problem(parent.rpartition("/")[0]) if parent else None
            self._parents[parent] = above or (self._directory_problem(parent) if parent else None)
        return self._parents[parent]

    def _directory_problem(self, directory: str) -> str | None:
        """Look at each directory once. Follow only a link, to see where it leads."""
        full = f"{self.real}/{directory}"
        try:
            mode = os.lstat(full).st_mode
        except OSError:
            return None
        if stat.S_ISLNK(mode):
            real = os.path.realpath(full)
            if not real.startswith(self.real.rstrip(os.sep) + os.sep):
                return "goes through a link that leads out of the project"
            if ".git" in real[len(self.real) :].split(os.sep):
                return "goes through a link into the repository's own files"
            if not os.path.isdir(real):
                return "needs a directory where there is something else"
        elif not stat.S_ISDIR(mode):
            return "needs a directory where there is a file"
        return None

    def read(self, path: str) -> bytes | None:
        """The file's bytes; None when there is no regular file. Links are never followed."""
        full = f"{self.real}/{path}"
        try:
            descriptor = os.open(
                full, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            )
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            try:
                return file.read()
            except OSError:
                return None

    def is_executable(self, path: str) -> bool:
        """True when the owner may run the file. Links are never followed."""
        try:
            return bool(os.lstat(f"{self.real}/{path}").st_mode & 0o100)
        except OSError:
            return False

    def exists(self, path: str) -> bool:
        return os.path.lexists(f"{self.real}/{path}")
