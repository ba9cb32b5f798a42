"""What a check looked at, for its last lines: counts by kind, and what was left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.files import beneath
from checkrein.base.origin import BOUND_SCOPES

if TYPE_CHECKING:
    from checkrein.model.project import Project, Sources

_KINDS = {
    "skills": "skills",
    "commands": "commands",
    "agents": "agents",
    "instructions": "instructions",
    "plugins": "plugins",
    "marketplaces": "marketplaces",
    "recipes": "recipes",
    "hooks": "hook files",
    "servers": "server files",
    "settings": "settings files",
}


class Unread(Struct, frozen=True):
    path: str
    reason: str


class Examined(Struct, frozen=True):
    """What was looked at: `counts` by kind, the number of `files`, and what was left out and why."""

    files: int
    counts: dict[str, int]
    unread: tuple[Unread, ...] = ()


def count_items(
    projects: Iterable[Project], skipped: Mapping[str, str], base: str, bounds: Sequence[str]
) -> Examined:
    """Counts of the project's files by the kind of what they hold; only those below `bounds`, if any."""
    seen: dict[str, set[str]] = {}
    for project in projects:
        for one in (project, *project.others.values()):
            for kind, file in _items(one.sources):
                if not bounds or any(beneath(file, bound) for bound in bounds):
                    seen.setdefault(kind, set()).add(file)
    unread = [
        Unread(os.path.relpath(path, base) if beneath(path, base) else path, reason)
        for path, reason in sorted(skipped.items())
    ]
    files = set().union(*seen.values())
    return Examined(
        len(files), {kind: len(seen[kind]) for kind in _KINDS.values() if kind in seen}, tuple(unread)
    )


def _items(sources: Sources) -> Iterator[tuple[str, str]]:
    for kind, name in _KINDS.items():
        for item in getattr(sources, kind):
            if item.origin.scope in BOUND_SCOPES:
                yield name, item.origin.file
