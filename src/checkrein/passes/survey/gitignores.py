"""What git ignores, by the `.gitignore` files of a tree. No process starts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from checkrein.base.files import read_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_FILE = ".gitignore"


class GitIgnores:
    """The patterns from the top of the repository down. Each directory is read once."""

    def __init__(self, top: str) -> None:
        self.top = top
        self._specs: dict[str, GitIgnoreSpec | None] = {}

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether git ignores a path below `top`; its folders are known not to be ignored."""
        directory = os.path.dirname(path)
        while True:
            spec = self._spec(directory)
            if spec is not None:
                below = os.path.relpath(path, directory).replace(os.sep, "/") + "/" * folder
                verdict = spec.check_file(below).include
                if verdict is not None:
                    return verdict
            if directory == self.top or os.path.dirname(directory) == directory:
                return False
            directory = os.path.dirname(directory)

    def _spec(self, directory: str) -> GitIgnoreSpec | None:
        if directory not in self._specs:
            self._specs[directory] = _read(os.path.join(directory, _FILE))
        return self._specs[directory]


def _read(path: str) -> GitIgnoreSpec | None:
    if not os.path.isfile(path):
        return None
    from pathspec import GitIgnoreSpec

    lines = read_text(path, within=(os.path.dirname(path),)).text.splitlines()
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return None
