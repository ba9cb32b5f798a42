"""Applies a plan, completely or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import FileError, PolicyError
from checkrein.deploy.change import Change
from checkrein.deploy.manifest import KEPT_DIR, MANIFEST_PATH, Manifest, digest, load_manifest, save_manifest
from checkrein.deploy.paths import Paths
from checkrein.deploy.plan import Plan
from checkrein.deploy.shared import union


class Applied(Struct, frozen=True):
    written: tuple[str, ...]
    deleted: tuple[str, ...]


class _Step(Struct):
    """What happened to one path and what was there before, to take it back."""

    full: str
    previous: bytes | None
    mode: int = 0o644


def apply_plan(paths: Paths, plan: Plan, *, record: bool = True) -> Applied:
    """Write and delete what the plan says. A failure restores everything and raises the error.

    Without `record` there is no manifest: the files are the user's own from then on. The manifest lists each
    change before it happens, so the next run knows every file that a killed run leaves.

    Raises PolicyError when the plan has errors, FileError when the tree is not what the plan saw.
    """
    if plan.errors:
        raise PolicyError(plan.errors[0].message, kind="deploy_refused", hint=plan.errors[0].hint)
    if not plan.pending and (not record or plan.manifest == plan.previous):
        return Applied((), ())
    root = Path(paths.real)
    try:
        with _alone(root):
            return _apply(paths, plan, root, record)
    except OSError as error:
        reason = f"{error.filename or root}: {error.strerror or error}"
        raise FileError(f"deploy failed and changed nothing: {reason}", kind="deploy_failed") from error


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Let one run at a time into a project: lock its directory, which leaves no file behind."""
    import fcntl

    descriptor = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _apply(paths: Paths, plan: Plan, root: Path, record: bool) -> Applied:
    if record and load_manifest(root) != plan.previous:
        raise FileError(
            "another deploy changed this project in the meantime", kind="tree_changed", retryable=True
        )
    paths.refresh()
    for change in plan.pending:
        _check_unmoved(paths, change)
    steps: list[_Step] = []
    kept: list[Path] = []
    made: set[str] = set()
    try:
        for change in plan.pending:
            if change.action != "delete":
                _keep(paths, change, root, kept)
        if record and plan.pending:
            save_manifest(root, _intent(plan))
        for change in plan.pending:
            if change.action != "delete":
                _write(paths, change, steps, made)
        for change in plan.pending:
            if change.action == "delete":
                _delete(paths, change, steps)
        if record:
            save_manifest(root, plan.manifest)
    except BaseException:
        _take_back(steps)
        for path in kept:
            path.unlink(missing_ok=True)
        if record:
            with contextlib.suppress(OSError, FileError):
                save_manifest(root, plan.previous)
        _tidy_directories(paths, [os.path.dirname(step.full) for step in steps])
        raise
    _tidy(paths, plan)
    written = tuple(change.path for change in plan.pending if change.action != "delete")
    return Applied(written, tuple(change.path for change in plan.pending if change.action == "delete"))


def _intent(plan: Plan) -> Manifest:
    """The manifest during the work: each file is ours as it was and as it will be."""
    files = {**plan.previous.files, **plan.manifest.files}
    for change in plan.pending:
        entry = plan.manifest.files.get(change.path)
        if entry is not None:
            held = plan.previous.files.get(change.path)
            merge = union(None if held is None else held.merge, entry.merge)
            files[change.path] = replace(entry, before=change.before, merge=merge)
    return Manifest(files)


def _check_unmoved(paths: Paths, change: Change) -> None:
    problem = paths.problem(change.path)
    if problem is not None:
        raise FileError(f"{change.path} {problem}", kind="path_refused")
    if change.before is None and not paths.exists(change.path):
        return
    current = paths.read(change.path)
    found = None if current is None else digest(current)
    if found != change.before or (current is None and paths.exists(change.path)):
        raise FileError(
            f"{change.path} changed while deploy was running", kind="tree_changed", retryable=True
        )


def _keep(paths: Paths, change: Change, root: Path, kept: list[Path]) -> None:
    """Keep what --force overwrites, under its hash."""
    if change.kept is None:
        return
    content = paths.read(change.path)
    path = root / KEPT_DIR / change.kept
    if content is not None and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _put(str(path), content, 0o600)
        kept.append(path)


def _write(paths: Paths, change: Change, steps: list[_Step], made: set[str]) -> None:
    full = f"{paths.real}/{change.path}"
    parent = os.path.dirname(full)
    if parent not in made:
        os.makedirs(parent, exist_ok=True)
        made.add(parent)
    if change.before is None:
        steps.append(_Step(full, None))
    else:
        steps.append(_Step(full, paths.read(change.path), _mode(full)))
    keeps = change.shared and change.before is not None
    _put(full, change.content, _mode(full) if keeps else None, executable=change.executable)


def _delete(paths: Paths, change: Change, steps: list[_Step]) -> None:
    full = os.path.join(paths.real, change.path)
    steps.append(_Step(full, paths.read(change.path), _mode(full)))
    if change.kept is None:
        os.unlink(full)
        return
    restored = paths.read(f"{KEPT_DIR}/{change.kept}")
    if restored is None:
        raise FileError(
            f"the copy of {change.path} in {KEPT_DIR} is gone",
            kind="tree_changed",
            hint="restore the file by hand",
        )
    _put(full, restored, _mode(full))


def _put(full: str, content: bytes, mode: int | None = None, *, executable: bool = False) -> None:
    """Write through a temporary file beside the target. This replaces a link there and never follows it.

    Without a `mode` the user's umask decides. Nothing is flushed to the disk: deploy can make the files again
    from their sources.
    """
    temporary = f"{os.path.dirname(full)}/.{os.urandom(6).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags, 0o777 if executable else 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        os.replace(temporary, full)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(full: str) -> int:
    try:
        return os.lstat(full).st_mode & 0o777
    except OSError:
        return 0o644


def _take_back(steps: list[_Step]) -> None:
    for step in reversed(steps):
        with contextlib.suppress(OSError):
            if step.previous is None:
                os.unlink(step.full)
            else:
                _put(step.full, step.previous, step.mode)


def _tidy(paths: Paths, plan: Plan) -> None:
    """Remove kept copies that were restored, and directories that became empty."""
    for change in plan.pending:
        if change.action == "delete" and change.kept is not None:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(paths.real, KEPT_DIR, change.kept))
    gone = [change.path for change in plan.pending if change.action == "delete"]
    directories = [os.path.dirname(f"{paths.real}/{path}") for path in gone]
    ours = [os.path.join(paths.real, name) for name in (KEPT_DIR, os.path.dirname(MANIFEST_PATH))]
    _tidy_directories(paths, [*directories, *ours])


def _tidy_directories(paths: Paths, directories: Iterable[str]) -> None:
    for directory in dict.fromkeys(directories):
        while directory != paths.real:
            try:
                os.rmdir(directory)
            except OSError:
                break
            directory = os.path.dirname(directory)
