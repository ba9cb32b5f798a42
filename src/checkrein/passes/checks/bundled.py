"""The files in a skill's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.facts.claude import SKILL_FILE
from checkrein.model.items import Skill
from checkrein.passes.checks.check import Subject

_MOST = 400
_DEPTH = 3
_LARGEST = 200_000
_SKIPPED = frozenset(
    {"node_modules", "__pycache__", ".git", ".venv", "venv", "tests", "test", "fixtures", "dist"}
)


def files_of(subject: Subject, item: Skill) -> list[str]:
    """Paths below the skill's folder with `/`, without SKILL.md and without skills inside it; each listed
    once. A folder with very many files counts as empty."""
    held = subject.listings.get(item.directory)
    if held is None:
        held = list(_below(item.directory, "", 0))
        subject.listings[item.directory] = held = [] if len(held) > _MOST else held
    return held


def _below(directory: str, prefix: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(directory) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError:
        return
    names = {entry.name for entry in entries}
    if depth and SKILL_FILE in names:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED and depth < _DEPTH:
                yield from _below(entry.path, f"{prefix}{entry.name}/", depth + 1)
        elif entry.name != SKILL_FILE:
            yield prefix + entry.name


def text_of(subject: Subject, item: Skill, path: str) -> str:
    full = os.path.join(item.directory, path)
    try:
        return subject.text(full) if os.path.getsize(full) <= _LARGEST else ""
    except OSError:
        return ""


def texts_of(subject: Subject, item: Skill, endings: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """(path, ending, text) of the skill's files with one of these endings."""
    for path in files_of(subject, item):
        ending = os.path.splitext(path)[1]
        if ending in endings:
            yield os.path.join(item.directory, path), ending, text_of(subject, item, path)
