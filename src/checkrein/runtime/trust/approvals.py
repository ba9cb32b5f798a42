"""The user's approvals, in the Checkrein home: the approved surfaces of each project, by its real path.

A project may have several approved surfaces (branches, directories); each is the whole list of its items.
Only the user may read or write the file. Checkrein does not use a file that others can write.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from checkrein.base import clock
from checkrein.base.errors import FileError
from checkrein.base.files import locked, read_own, write_atomic
from checkrein.base.home import checkrein_home, private_dir

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
    """Safe to use from several processes: every change takes a lock and reads the file again."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = checkrein_home() if home is None else home
        self.path = self._home / FILE

    def record(self, root: str) -> Record:
        return self._read()[0].projects.get(root, Record())

    def roots(self) -> dict[str, Record]:
        return dict(sorted(self._read()[0].projects.items()))

    @property
    def problem(self) -> str | None:
        """Why the file is not used, or None."""
        return self._read()[1]

    def approve(self, root: str, surface: str, items: Mapping[str, str], env: Mapping[str, str] = {}) -> None:
        approval = Approval(surface, clock.timestamp(), dict(items))

        def change(record: Record) -> Record:
            others = tuple(one for one in record.approvals if one.surface != surface)
            return Record((*others[1 - _APPROVALS_KEPT :], approval), {**record.env, **env})

        self._change(root, change)

    def revoke(self, root: str) -> bool:
        """Forget a project; False when it has no approval."""
        known = root in self._read()[0].projects
        if known:
            self._change(root, lambda record: None)
        return known

    def _read(self) -> tuple[_File, str | None]:
        found = read_own(self.path)
        if found is None:
            return _File(), None
        if found.problem is not None:
            return _File(), f"{self.path} {found.problem}"
        try:
            return msgspec.json.decode(found.data, type=_File), None
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            return _File(), f"{self.path} is broken: {error}"

    def _change(self, root: str, change: _Change) -> None:
        try:
            private_dir(self._home)
            with locked(self.path.with_suffix(".lock")):
                found, problem = self._read()
                if problem is not None:
                    os.replace(self.path, self.path.with_suffix(".broken"))
                projects = dict(found.projects)
                record = change(projects.pop(root, Record()))
                if record is not None:
                    projects[root] = record
                data = msgspec.json.format(msgspec.json.encode(replace(found, projects=projects)), indent=1)
                write_atomic(self.path, data, mode=0o600)
        except OSError as error:
            raise FileError(
                f"The trust store {self.path} can't be written: {error.strerror or error}",
                kind="trust_store_unwritable",
                hint="Check the permissions of the directory, or set CHECKREIN_HOME to another one.",
            ) from error


def digests(labels: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Label to digest. Items that share a label have their digests joined."""
    result: dict[str, list[str]] = {}
    for label, digest in labels:
        result.setdefault(label, []).append(digest)
    return {label: "+".join(sorted(set(found))) for label, found in result.items()}
