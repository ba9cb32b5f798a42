"""Whether a project is trusted, why, and what of it counts: values that whoever reads the disk makes."""

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
]
By = Literal["nothing to run", "store", "flag", "setting sources", "nobody", "assumption"]


class SurfaceItem(Struct, frozen=True):
    """One thing that needs trust. `label` is for people, with secrets hidden; `files` are the scripts
    it names. Two items with one `digest` do the same."""

    kind: Kind
    label: str
    origin: Origin
    digest: str
    files: tuple[str, ...] = ()


class Change(Struct, frozen=True):
    """How the surface differs from the one that was approved last."""

    change: Literal["added", "changed", "removed"]
    label: str
    origin: Origin | None = None


class TrustStatus(Struct, frozen=True, kw_only=True):
    """`trusted` holds for exactly these `items`; `changes` are counted from the last approval of this root.

    `approved_env` are guarded variables of the project's env that the user approved by name and whose value
    is still the same.
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
    """A project under its status. `project` is what counts: all of it, or what is left without trust.

    `skipped` says what does not count and where it stands. `skipped_hooks` are the hooks among it that were
    in effect: a call that one of them would have judged needs an approval.
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
    """Everything counts, whoever looks: how the project judges where its author's word is what matters."""
    reason = "The project is taken at its word."
    status = TrustStatus(trusted=True, by="assumption", reason=reason, root=project.place.root)
    return Trust(status=status, project=project)
