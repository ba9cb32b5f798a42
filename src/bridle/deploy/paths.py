"""Paths that deploy may touch: inside the project, and never through a link that leads out of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

_FORBIDDEN = ("", ".", "..")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\\]")


class Paths:
    """The project's directory, with what has been found out about its subdirectories."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.real = os.path.realpath(root)
        self._parents: dict[str, str | None] = {}

    def refresh(self) -> None:
        """Forget what was found out; the tree may have changed."""
        self._parents.clear()

    def problem(self, path: str) -> str | None:
        """Why a relative path may not be written, or None."""
        if _UNPRINTABLE.search(path):
            return "has characters that a path can't have"
        parts = path.split("/")
        if any(part in _FORBIDDEN for part in parts) or path.startswith("/"):
            return "leads out of the project"
        if parts[0] == ".git" or ".git" in parts:
            return "lies in the repository's own files"
        if len(path) > 60 and any(len(part.encode()) > 255 for part in parts):
            return "has a name that is too long"
        return self._parent_problem("/".join(parts[:-1]))

    def _parent_problem(self, parent: str) -> str | None:
        if parent not in self._parents:
            real = os.path.realpath(os.path.join(self.real, parent))
            inside = real == self.real or real.startswith(self.real.rstrip(os.sep) + os.sep)
            problem = None if inside else "goes through a link that leads out of the project"
            if problem is None and os.path.lexists(real) and not os.path.isdir(real):
                problem = "needs a directory where a file is"
            self._parents[parent] = problem
        return self._parents[parent]

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

    def exists(self, path: str) -> bool:
        return os.path.lexists(f"{self.real}/{path}")
