"""The user's approvals, in the Checkrein home: the approved surfaces of each project, by its real path.

A project may have several approved surfaces (branches, directories); each is the whole list of its items.
Only the user may read or write the file. Checkrein does not use a file that others can write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base import clock
from checkrein.base.home import checkrein_home
from checkrein.base.home_file import HomeFile

FILE = "trust.json"
_APPROVALS_KEPT = 32


class Approval(Struct, frozen=True):
    """One approved surface. `items` maps the label of each part to its digest."""

    surface: str
    at: str
    items: dict[str, str] = {}


class Record(Struct, frozen=True):
    """The approvals of one project. `env` holds the guarded variables that the user approved by name, with a
    digest of the value."""

    approvals: tuple[Approval, ...] = ()
    env: dict[str, str] = {}


class _File(Struct, frozen=True):
    version: int = 1
    projects: dict[str, Record] = {}


_Change = Callable[[Record], Record | None]


class TrustStore:
    """Safe to use from several processes."""

    def __init__(self, home: Path | None = None) -> None:
        self.path = (checkrein_home() if home is None else home) / FILE
        self._file = HomeFile(self.path, _File(), kind="trust_store_unwritable")

    def record(self, root: str) -> Record:
        return self._file.read()[0].projects.get(root, Record())

    def roots(self) -> dict[str, Record]:
        return dict(sorted(self._file.read()[0].projects.items()))

    @property
    def problem(self) -> str | None:
        """Why the file is not used, or None."""
        return self._file.problem

    def approve(self, root: str, surface: str, items: Mapping[str, str], env: Mapping[str, str] = {}) -> None:
        approval = Approval(surface, clock.timestamp(), dict(items))

        def change(record: Record) -> Record:
            others = tuple(one for one in record.approvals if one.surface != surface)
            return Record((*others[1 - _APPROVALS_KEPT :], approval), {**record.env, **env})

        self._change(root, change)

    def revoke(self, root: str) -> bool:
        """Forget a project; False when it has no approval."""
        known = root in self._file.read()[0].projects
        if known:
            self._change(root, lambda record: None)
        return known

    def _change(self, root: str, change: _Change) -> None:
        def changed(found: _File) -> _File:
            projects = dict(found.projects)
            record = change(projects.pop(root, Record()))
            return replace(found, projects=projects if record is None else {**projects, root: record})

        self._file.change(changed)


def digests(labels: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Label to digest. Items that share a label have their digests joined."""
    result: dict[str, list[str]] = {}
    for label, digest in labels:
        result.setdefault(label, []).append(digest)
    return {label: "+".join(sorted(set(found))) for label, found in result.items()}
