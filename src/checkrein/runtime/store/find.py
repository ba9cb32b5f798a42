"""Find the session that a reference means: an id, the start of one, or a title. Every command uses this."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from checkrein.base.errors import SessionError
from checkrein.runtime.store.layout import (
    is_session_id,
    not_found,
    project_dir,
    project_dirs,
    session_path,
)
from checkrein.runtime.store.values import SessionInfo

_MIN_PREFIX = 4


def find_id(root: Path, session_id: str, cwd: str | Path | None = None) -> Path | None:
    """The transcript with exactly this id: in the project of `cwd`, else in the one project that has it."""
    if cwd is not None:
        own = session_path(project_dir(root, cwd), session_id)
        if _is_there(own):
            return own
    found = [path for path in (session_path(p, session_id) for p in project_dirs(root)) if _is_there(path)]
    return _only(found, session_id) if found else None


def find(
    root: Path, reference: str, cwd: str | Path | None, titles: Callable[[Path | None], Iterable[SessionInfo]]
) -> Path:
    """An exact id; else the start of one (at least 4 characters); else an exact title.

    The project of `cwd` comes first, then all others. A reference to two sessions in one place is an error.
    """
    if is_session_id(reference):
        exact = find_id(root, reference, cwd)
        if exact is not None:
            return exact
    own = project_dir(root, cwd) if cwd is not None else None
    for places in ([own] if own else [], project_dirs(root)):
        found = _by_prefix(places, reference)
        if found:
            return _only(found, reference)
    for place in (own, None) if own else (None,):
        named = [info.path for info in titles(place) if info.title == reference]
        if named:
            return _only(named, reference)
    raise not_found(reference, own or root)


def _by_prefix(places: Iterable[Path], reference: str) -> list[Path]:
    if len(reference) < _MIN_PREFIX or not is_session_id(reference):
        return []
    return [path for place in places for path in sorted(place.glob("*.jsonl")) if _starts(path, reference)]


def _starts(path: Path, reference: str) -> bool:
    return path.name.startswith(reference) and is_session_id(path.stem) and _is_there(path)


def _is_there(path: Path) -> bool:
    """A link counts as existing: opening it then says why Checkrein refuses it."""
    return path.is_symlink() or path.exists()


def _only(found: list[Path], reference: str) -> Path:
    if len(found) > 1:
        listed = ", ".join(f"{path.parent.name}/{path.stem}" for path in found[:5])
        raise SessionError(
            f"{reference!r} matches {len(found)} sessions: {listed}.",
            kind="session_ambiguous",
            hint="Give more of the id, or run in the session's project.",
        )
    return found[0]
