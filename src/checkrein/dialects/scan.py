"""Find files: list directories, and walk only to the places of a kind of file."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.base.files import LEAVES, leaves
from checkrein.base.origin import Origin, Scope, Span
from checkrein.dialects.codes import Log, diagnose

MAX_DEPTH = 8
_SKIPPED = frozenset({"node_modules", "__pycache__"})


def listing(directory: str, scope: Scope, log: Log) -> list[os.DirEntry[str]]:
    """The entries of a directory by name; none when there is no such directory."""
    if not stays(directory, os.path.realpath(directory), scope, log):
        return []
    try:
        with os.scandir(directory) as entries:
            found = list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"The directory can't be read ({reason})"
        log.append(diagnose("FILE001", message, Origin(directory, scope)))
        return []
    found.sort(key=lambda entry: entry.name)
    if all(entry.name.isascii() for entry in found):
        return found
    return [entry for entry in found if is_utf8(entry.path, scope, log)]


def stays(path: str, real: str, scope: Scope, log: Log) -> bool:
    """Whether a path of the project leads to a place inside it; if not, `log` has it."""
    within = log.bounds(scope)
    if within is None or not leaves(real, path, within):
        return True
    found = diagnose("FILE009", f"{os.path.basename(path)} {LEAVES}", Origin(path, scope, Span(1)))
    if os.path.lexists(path) and found not in log:
        log.append(found)
    return False


def is_utf8(path: str, scope: Scope, log: Log) -> bool:
    """A name that is not UTF-8 can't be shown or written, so such a file is left out."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        shown = path.encode("utf-8", "replace").decode()
        log.append(diagnose("FILE005", "The file's name is not UTF-8; it is not read", Origin(shown, scope)))
        return False
    return True


def is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def directories(root: str, scope: Scope, log: Log) -> Iterator[tuple[str, str, str]]:
    """(name, path, real path) of every visible directory in `root`; links are followed."""
    real_root = os.path.realpath(root)
    for entry in listing(root, scope, log):
        if entry.name[0] == "." or entry.name in _SKIPPED:
            continue
        if entry.is_symlink():
            real = os.path.realpath(entry.path)
            if is_dir(entry):
                if stays(entry.path, real, scope, log):
                    yield entry.name, entry.path, real
            elif not os.path.exists(entry.path):
                message = f"{entry.name} is a symbolic link that leads nowhere"
                log.append(diagnose("FILE003", message, Origin(entry.path, scope)))
        elif is_dir(entry):
            yield entry.name, entry.path, real_root + os.sep + entry.name


def markdown_files(
    root: str, scope: Scope, log: Log, *, folders_first: bool = False
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(path, folders below `root`) of every `.md` file, links followed, each real directory once."""
    yield from _below(root, (), scope, log, folders_first, {os.path.realpath(root)})


def _below(
    directory: str,
    folders: tuple[str, ...],
    scope: Scope,
    log: Log,
    folders_first: bool,
    seen: set[str],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    files: list[str] = []
    subdirectories: list[os.DirEntry[str]] = []
    for entry in listing(directory, scope, log):
        if entry.name[0] == "." or entry.name in _SKIPPED:
            continue
        if is_dir(entry) and not entry.name.endswith(".md"):
            subdirectories.append(entry)
        elif entry.name.endswith(".md"):
            files.append(entry.path)
    if not folders_first:
        yield from ((path, folders) for path in files)
    for entry in subdirectories:
        if entry.is_symlink():
            real = os.path.realpath(entry.path)
            if real in seen:
                continue
            seen.add(real)
        if len(folders) < MAX_DEPTH:
            yield from _below(entry.path, (*folders, entry.name), scope, log, folders_first, seen)
    if folders_first:
        yield from ((path, folders) for path in files)
