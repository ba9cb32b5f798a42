"""Whether a project is trusted, why, and which parts of it count.

Code that reads the disk makes these values.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.model.items import Hook
from checkrein.model.project import Project

Kind = Literal[
    "hook",
    "server",
    "env",
    "helper",
    "shell line",
    "script",
    "allow rule",
    "directory",
    "allowed tools",
    "setting",
    "plugin",
    "workspace",
]
By = Literal["nothing to run", "store", "flag", "setting sources", "nobody", "assumption"]


class SurfaceItem(Struct, frozen=True):
    """One thing that needs trust.

    `label` is for people, with secrets hidden; `files` are the scripts it names. Two items with the same
    `digest` do the same.
    """

    kind: Kind
    label: str
    origin: Origin
    digest: str
    files: tuple[str, ...] = ()


class Change(Struct, frozen=True):
    """How the surface differs from the last approved one."""

    change: Literal["added", "changed", "removed"]
    label: str
    origin: Origin | None = None


class TrustStatus(Struct, frozen=True, kw_only=True):
    """The status of a project.

    `trusted` holds for exactly these `items`; `changes` are those since the last approval of this root.
    `approved_env` are guarded variables of the project's env: the user approved them by name, and their
    values have not changed.
    """

    trusted: bool
    by: By
    reason: str
    root: str
    digest: str = ""
    items: tuple[SurfaceItem, ...] = ()
    changes: tuple[Change, ...] = ()
    approved_env: tuple[str, ...] = ()
    problem: str | None = None


class Trust(Struct, frozen=True, kw_only=True):
    """A project under its status.

    `project` is the part that counts: all of it, or what remains without trust. `skipped` lists what does not
    count and where it is. `skipped_hooks` are the skipped hooks that were in effect: a call that one of them
    would judge needs approval.
    """

    status: TrustStatus
    project: Project
    skipped: tuple[Diagnostic, ...] = ()
    skipped_hooks: tuple[Hook, ...] = ()

    @property
    def trusted(self) -> bool:
        return self.status.trusted

    @property
    def approved_env(self) -> tuple[str, ...]:
        return self.status.approved_env if self.trusted else ()


def assumed(project: Project) -> Trust:
    """Everything counts. This is how the project judges calls when only its author's view matters."""
    reason = "The whole project counts."
    status = TrustStatus(trusted=True, by="assumption", reason=reason, root=project.place.root)
    return Trust(status=status, project=project)
