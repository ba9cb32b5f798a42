"""Whether git ignores a file, by the ignore files alone. It starts no process and does not read the index."""

from __future__ import annotations

import os

from checkrein.base.files import read_text
from checkrein.model.project import Place


def is_ignored(path: str, place: Place) -> bool:
    """True where an ignore file of the repository or of the user covers `path`; the last match decides."""
    if place.repo_root is None:
        return True
    from pathspec import PathSpec

    repository = place.repo_root
    sources = [
        (os.path.join(place.home, ".config", "git", "ignore"), repository),
        (os.path.join(repository, ".git", "info", "exclude"), repository),
    ]
    directory = repository
    folders = os.path.relpath(os.path.dirname(path), repository).split(os.sep)
    for folder in ["", *(folder for folder in folders if folder != ".")]:
        directory = os.path.join(directory, folder) if folder else directory
        sources.append((os.path.join(directory, ".gitignore"), directory))
    ignored = False
    for file, base in sources:
        if not os.path.isfile(file):
            continue
        found = PathSpec.from_lines("gitignore", read_text(file).text.splitlines())
        verdict = found.check_file(os.path.relpath(path, base).replace(os.sep, "/")).include
        if verdict is not None:
            ignored = verdict
    return ignored
