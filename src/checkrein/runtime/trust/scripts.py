"""The files of a project that a command names, and their fingerprints."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence

from checkrein.facts.trust import SCRIPT_SUFFIXES, TASK_FILES
from checkrein.model.project import Place

_BREAKS = re.compile(r"[\s;|&()<>`'\"=,{}]+")
_QUOTES = frozenset("'\"\\")
_SPACES = re.compile("[ \t\r\n]+")
_PLACES = ("CLAUDE_PROJECT_DIR", "PWD", "CLAUDE_PLUGIN_ROOT")
_LONGEST = 4096
_SIBLINGS = 200
_CHUNK = 1 << 20


def named_files(
    texts: Iterable[str],
    place: Place,
    plugin_root: str | None = None,
    real: Callable[[str], str] = os.path.realpath,
) -> tuple[str, ...]:
    """Regular files in the project that the words of a command lead to, in order of path.

    Looks for each word below the working directory, the root, a plugin's root and every directory that the
    command names. It may find more files than the command runs. It does not follow what a script loads,
    apart from scripts beside it in `.claude/`. `real` follows links.
    """
    roots = list(dict.fromkeys(root for root in (place.cwd, place.root, plugin_root) if root))
    words = [word for text in texts for word in _words(_expanded(text, place, plugin_root))]
    bases = list(roots)
    for word in words:
        bases += [path for root in roots if word != "." and os.path.isdir(path := _join(root, word))][:1]
    found: set[str] = set()
    for word in words:
        tasks = TASK_FILES.get(os.path.basename(word), ())
        for path in {_join(base, word) for base in bases}:
            if _counts(path, roots, real):
                found.add(path)
                found.update(_siblings(path, place))
        found.update(
            file for task in tasks for base in bases if _counts(file := _join(base, task), roots, real)
        )
    return tuple(sorted(found))


def _words(text: str) -> list[str]:
    words = dict.fromkeys((*_shell_words(text), *_BREAKS.split(text)))
    return [word for word in words if word and "\0" not in word and len(word) < _LONGEST]


def _shell_words(text: str) -> list[str]:
    if _QUOTES.isdisjoint(text):
        return _SPACES.split(text)
    import shlex

    try:
        return shlex.split(text)
    except ValueError:
        return []


def _expanded(text: str, place: Place, plugin_root: str | None) -> str:
    values = dict(zip(_PLACES, (place.cwd, place.cwd, plugin_root or ""), strict=True))
    for name, value in values.items():
        text = text.replace("${" + name + "}", value).replace(f'"${name}"', value).replace(f"${name}", value)
    return text


def _join(base: str, word: str) -> str:
    return os.path.normpath(os.path.join(base, word))


def _counts(path: str, roots: Sequence[str], real: Callable[[str], str]) -> bool:
    if not os.path.isfile(path):
        return False
    inside = tuple(root.rstrip(os.sep) + os.sep for root in roots)
    return path.startswith(inside) or real(path).startswith(inside)


def _siblings(path: str, place: Place) -> list[str]:
    folder = os.path.dirname(path)
    if f"{os.sep}.claude{os.sep}" not in folder[len(place.root) :] + os.sep or folder.endswith(
        f"{os.sep}.claude"
    ):
        return []
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SCRIPT_SUFFIXES))
    except OSError:
        return []
    return [file for name in names[:_SIBLINGS] if os.path.isfile(file := os.path.join(folder, name))]


def fingerprint(path: str, root: str) -> str:
    """A digest of the real path and the content."""
    real = os.path.realpath(path)
    digest = hashlib.sha256(os.path.relpath(real, root).encode("utf-8", "surrogateescape") + b"\0")
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        digest.update(f"unreadable {error.errno}".encode())
    return digest.hexdigest()
