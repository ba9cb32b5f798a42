"""The project as a session uses it: whole when trusted, else without its executable surface."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.model.project import Project
from checkrein.policy.trust import SurfaceItem, Trust
from checkrein.runtime.trust.approvals import TrustStore
from checkrein.runtime.trust.status import NEVER, judge, trusted_origin
from checkrein.runtime.trust.surface import Surface, surface


class Standing(Trust, frozen=True, kw_only=True):
    """What a session needs to know about trust. `trusts` is for the Spawner."""

    trusts: Callable[[Origin], bool]


def standing(
    project: Project, *, trusted: bool = False, distrusted: bool = False, store: TrustStore | None = None
) -> Standing:
    """Judge a project once, at the start of a session. `trusted` lifts the check: `--trust`, or the consent
    of an explicit `--setting-sources`. `distrusted` judges it as if nobody had ever trusted it."""
    found = surface(project.place, project.sources)
    status = judge(project.place, found, store, flag=trusted)
    if distrusted and found.items:
        status = replace(status, trusted=False, by="nobody", reason=NEVER, changes=())
    trusts = trusted_origin(status, project.place)
    if status.trusted:
        return Standing(project=project, trusts=trusts, status=status)
    reduced, skipped = _reduced(project, found)
    return Standing(
        project=reduced,
        trusts=trusts,
        status=status,
        skipped=skipped,
        skipped_hooks=tuple(hook for hook in project.hooks if hook in found.hooks),
    )


def untrusted_view(project: Project) -> tuple[Project, tuple[Diagnostic, ...]]:
    """The project without what needs trust, and a Diagnostic for each item left out."""
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
