"""The project as it counts: whole when it is trusted, without its executable surface when it is not."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.model.items import Hook
from checkrein.model.project import Project
from checkrein.runtime.trust.approvals import TrustStore
from checkrein.runtime.trust.status import TrustStatus, judge, trusted_origin
from checkrein.runtime.trust.surface import Surface, SurfaceItem, surface


class Standing(Struct, frozen=True, kw_only=True):
    """What a session needs to know of trust.

    `project` is what counts, `skipped` says what does not and where it stands. `skipped_hooks` are the hooks
    among it that were in effect: a call that one of them would have judged is to be asked about. `trusts` is
    for the Spawner.
    """

    project: Project
    trusted: bool
    trusts: Callable[[Origin], bool]
    status: TrustStatus
    skipped: tuple[Diagnostic, ...] = ()
    skipped_hooks: tuple[Hook, ...] = ()
    approved_env: tuple[str, ...] = ()


def standing(project: Project, *, trusted: bool = False, store: TrustStore | None = None) -> Standing:
    """Judge a project once, at the start of a session. `trusted` lifts the check: `--trust`, or the consent
    of an explicit `--setting-sources`."""
    found = surface(project.place, project.sources)
    status = judge(project.place, found, store, flag=trusted)
    trusts = trusted_origin(status, project.place)
    if status.trusted:
        return Standing(
            project=project, trusted=True, trusts=trusts, status=status, approved_env=status.approved_env
        )
    reduced, skipped = _reduced(project, found)
    return Standing(
        project=reduced,
        trusted=False,
        trusts=trusts,
        status=status,
        skipped=skipped,
        skipped_hooks=tuple(hook for hook in project.hooks if hook in found.hooks),
    )


def untrusted_view(project: Project) -> tuple[Project, tuple[Diagnostic, ...]]:
    """The project without what needs trust, and a Diagnostic for everything that was left out."""
    return _reduced(project, surface(project.place, project.sources))


def _reduced(project: Project, found: Surface) -> tuple[Project, tuple[Diagnostic, ...]]:
    if not found.items:
        return project, ()
    from checkrein.passes.resolve import resolve

    kept = resolve(project.place, found.kept, project.detection)
    return kept, tuple(_left_out(item) for item in found.items if item.kind != "script")


def _left_out(item: SurfaceItem) -> Diagnostic:
    return Diagnostic(
        "TRUST001",
        "warning",
        f"Not used, because the project is not trusted: {item.kind} {item.label}",
        item.origin,
        reason="It would run something, or widen what may run, on the word of the project alone.",
        hint="Look at it, then run `checkrein trust`.",
    )
