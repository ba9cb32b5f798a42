"""The texts for a dialect's reader, from the disk: only from the places of its files, and bounded."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from checkrein.base.origin import Scope
from checkrein.dialects import text
from checkrein.dialects.codes import Log
from checkrein.dialects.scan import is_utf8, stays
from checkrein.facts.agents import Files

MAX_FILES = 20_000
MAX_DEPTH = 12
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv"})
_SCOPE: Scope = "project"


def collect(
    root: str, files: Files, log: Log, *, directories: Collection[str] | None = None, links: bool = False
) -> dict[str, str]:
    """Texts by path relative to `root`.

    `directories` (relative, "" for the root) are searched for instruction files without a folder; None
    searches the whole project. It follows a link only with `links`, and only to a file inside the project.
    """
    tree: dict[str, str] = {}
    for path in dict.fromkeys(_paths(root, files, directories)):
        if len(tree) >= MAX_FILES:
            break
        full = os.path.join(root, path)
        if not is_utf8(full, _SCOPE, log):
            continue
        if os.path.islink(full):
            real = os.path.realpath(full)
            if not stays(full, real, _SCOPE, log) or not (links and os.path.isfile(real)):
                continue
        found = text.read(full, _SCOPE, log)
        if found is not None:
            tree[path] = found.text
    return tree


def _paths(root: str, files: Files, directories: Collection[str] | None) -> Iterator[str]:
    names = [place for place in files.instruction if "/" not in place and place[0] != "."]
    for place in files.all():
        if "{name}" in place:
            yield from _named(root, place)
        elif place not in names and os.path.lexists(os.path.join(root, place)):
            yield place
    for directory in _everywhere(root) if directories is None else directories:
        for name in names:
            path = f"{directory}/{name}" if directory else name
            if os.path.lexists(os.path.join(root, path)):
                yield path


def _named(root: str, place: str) -> Iterator[str]:
    """Files at a place with `{name}`: a name may be a folder, or may be in folders."""
    before, _, after = place.partition("{name}")
    directory, _, start = before.rpartition("/")
    if after.startswith("/"):
        for name in _names(os.path.join(root, directory)):
            path = f"{directory}/{name}{after}"
            if os.path.lexists(os.path.join(root, path)):
                yield path
        return
    for folder, folders, found in os.walk(os.path.join(root, directory)):
        short = os.path.relpath(folder, root).replace(os.sep, "/")
        depth = short.count("/")
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and depth < MAX_DEPTH)
        yield from (f"{short}/{n}" for n in sorted(found) if n.endswith(after) and n.startswith(start))


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _everywhere(root: str) -> Iterator[str]:
    for folder, folders, _ in os.walk(root):
        short = os.path.relpath(folder, root).replace(os.sep, "/")
        depth = 0 if short == "." else short.count("/") + 1
        folders[:] = sorted(
            name for name in folders if name[0] != "." and name not in _SKIPPED and depth < MAX_DEPTH
        )
        yield "" if short == "." else short
