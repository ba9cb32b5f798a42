"""Whether a project is trusted, why, and what changed since then."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any

from checkrein.base.files import beneath
from checkrein.base.origin import Origin
from checkrein.dialects.claude.place import main_checkout
from checkrein.model.project import Place, Project
from checkrein.policy.trust import By, Change, SurfaceItem, TrustStatus
from checkrein.runtime.trust.approvals import Approval, Record, TrustStore, digests
from checkrein.runtime.trust.ownership import project_content
from checkrein.runtime.trust.surface import Surface, script_digest, surface

NEVER = "This project was never trusted."


def _root_of(place: Place) -> str:
    return os.path.realpath(place.root)


def status(
    project: Project,
    *,
    store: TrustStore | None = None,
    flag: bool = False,
    setting_sources: Sequence[str] | None = None,
) -> TrustStatus:
    """`flag` is `--trust`; explicit setting sources that name `project` are consent too."""
    return judge(project.place, surface(project.place, project.sources), store, flag, setting_sources)


def judge(
    place: Place,
    found: Surface,
    store: TrustStore | None = None,
    flag: bool = False,
    setting_sources: Sequence[str] | None = None,
) -> TrustStatus:
    root = _root_of(place)

    def answer(trusted: bool, by: By, reason: str, **fields: Any) -> TrustStatus:
        return TrustStatus(
            trusted=trusted, by=by, reason=reason, root=root, digest=found.digest, items=found.items, **fields
        )

    if not found.items:
        return answer(True, "nothing to run", "Nothing in this project runs or widens anything.")
    store = store or TrustStore()
    record = store.record(root)
    main = _main_record(place, store)
    approved = {**main.env, **record.env}
    env = tuple(name for name, digest in _env_digests(found).items() if approved.get(name) == digest)
    if flag:
        return answer(True, "flag", "--trust was given.", approved_env=env)
    if setting_sources is not None and "project" in setting_sources:
        return answer(True, "setting sources", "--setting-sources names project.", approved_env=env)
    if any(approval.surface == found.digest for approval in record.approvals):
        return answer(True, "store", "You trusted this project as it is.", approved_env=env)
    if any(approval.surface == found.digest for approval in main.approvals):
        reason = "You trusted its main checkout, and this worktree runs the same."
        return answer(True, "store", reason, approved_env=env)
    problem = store.problem
    if not record.approvals:
        return answer(False, "nobody", NEVER, problem=problem)
    changes = _changes(record.approvals[-1], found)
    reason = f"This project has changed since you trusted it: {len(changes)} difference(s)."
    return answer(False, "nobody", reason, changes=changes, problem=problem)


def _main_record(place: Place, store: TrustStore) -> Record:
    """The approvals of the same place in the main checkout, for one of its worktrees. They count only for
    exactly the same surface."""
    if place.repo_root is None or not beneath(place.root, place.repo_root):
        return Record()
    main = main_checkout(place.repo_root)
    if main == place.repo_root:
        return Record()
    below = os.path.relpath(place.root, place.repo_root)
    return store.record(os.path.realpath(os.path.join(main, below)))


def trust(project: Project, *, store: TrustStore | None = None, env: Sequence[str] = ()) -> TrustStatus:
    """Approve the project as it is now, and the guarded variables that `env` names."""
    found = surface(project.place, project.sources)
    store = store or TrustStore()
    values = _env_digests(found)
    approved = {name: values[name] for name in env if name in values}
    if found.items:
        store.approve(_root_of(project.place), found.digest, _labels(found), approved)
    return judge(project.place, found, store)


def revoke(place: Place, *, store: TrustStore | None = None) -> bool:
    return (store or TrustStore()).revoke(_root_of(place))


def trusted_origin(status: TrustStatus, place: Place) -> Callable[[Origin], bool]:
    """For the Spawner: whether something of this origin may start now.

    What does not belong to the project may start. What does needs approval, and the scripts that it names
    must still be the approved ones: an agent that rewrites a hook's script loses the approval.
    """
    is_project = project_content(place)
    by_file: dict[str, list[SurfaceItem]] = {}
    for item in status.items:
        by_file.setdefault(item.origin.file, []).append(item)
    approved = {item.files[0]: item.digest for item in status.items if item.kind == "script"}

    def trusts(origin: Origin) -> bool:
        if not is_project(origin):
            return True
        if not status.trusted:
            return False
        known = by_file.get(origin.file, [])
        exact = [item for item in known if item.origin.field == origin.field]
        files = {file for item in exact or known for file in item.files}
        return bool(known) and all(script_digest(file, place.root) == approved[file] for file in files)

    return trusts


def _env_digests(found: Surface) -> dict[str, str]:
    """Name to digest of every variable that the project's env sets."""
    named = ((item.label.partition("=")[0], item.digest) for item in found.items if item.kind == "env")
    return {name: hashlib.sha256(digest.encode()).hexdigest() for name, digest in digests(named).items()}


def _labels(found: Surface) -> dict[str, str]:
    return digests((f"{item.kind} {item.label}", item.digest) for item in found.items)


def _changes(last: Approval, found: Surface) -> tuple[Change, ...]:
    now = _labels(found)
    origins = {f"{item.kind} {item.label}": item.origin for item in found.items}
    changes = [
        Change("changed" if label in last.items else "added", label, origins[label])
        for label, digest in now.items()
        if last.items.get(label) != digest
    ]
    return (*changes, *(Change("removed", label) for label in last.items if label not in now))
