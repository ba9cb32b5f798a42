"""The list of worktrees, and what can go of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from checkrein.base.clock import now
from checkrein.base.errors import CheckreinError, FileError
from checkrein.runtime.worktrees.checkout import REASON, lock_reason
from checkrein.runtime.worktrees.condition import condition_of
from checkrein.runtime.worktrees.owners import Mark, Note, look
from checkrein.runtime.worktrees.removal import admin_dir, remove_worktree
from checkrein.runtime.worktrees.repository import require_own_places
from checkrein.runtime.worktrees.worktree import Cleaned, Row
from checkrein.runtime.worktrees.worktree_names import branch_of, is_folder

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.worktrees.condition import Condition
    from checkrein.runtime.worktrees.git_calls import Git
    from checkrein.runtime.worktrees.repository import Repository
    from checkrein.runtime.worktrees.worktree import RowState
    from checkrein.runtime.worktrees.worktrees import Worktrees

_DAY = 86_400


def rows_of(repository: Repository, git: Git, cancel: Cancel) -> tuple[Row, ...]:
    """Every directory in the place of worktrees, and every mark without one."""
    marked = {name.removesuffix(".json") for name in _names(repository.marks) if name.endswith(".json")}
    found = {name for name in (*marked, *_names(repository.place)) if is_folder(name)}
    return tuple(_row(repository, name, git, cancel) for name in sorted(found))


def clean_rows(trees: Worktrees, days: float, cancel: Cancel, force: frozenset[str]) -> Cleaned:
    removed: list[str] = []
    left: list[tuple[str, str]] = []
    for row in trees.list(cancel):
        why = _stays(row, days, forced=row.name in force) or _taken_away(trees, row, cancel, force)
        if why:
            left.append((row.name, why))
        else:
            removed.append(row.name)
    return Cleaned(tuple(removed), tuple(left))


def end_removal(trees: Worktrees, folder: str, cancel: Cancel) -> bool:
    """Remove what is left of one that was being removed; False when it is anything else."""
    row = _row(trees.repository, folder, trees.git, cancel)
    return row.state == "broken" and not _taken_away(trees, row, cancel, frozenset())


def _stays(row: Row, days: float, *, forced: bool) -> str:
    if row.state in ("in_use", "locked"):
        return row.reason
    if forced or row.state == "broken":
        return ""
    if row.state == "dirty":
        return row.reason
    if row.seconds is not None and row.seconds < days * _DAY:
        return f"used less than {days:g} days ago"
    return ""


def _taken_away(trees: Worktrees, row: Row, cancel: Cancel, force: frozenset[str]) -> str:
    """Remove it as its owner; why it stays, if it does. It may have found an owner or work by now."""
    try:
        require_own_places(trees.repository)
    except FileError as error:
        return error.message
    os.makedirs(trees.repository.marks, mode=0o700, exist_ok=True)
    mark = Mark.take(trees.mark_path(row.name))
    if mark is None:
        return "somebody works in it"
    forced = row.name in force or row.state == "broken"
    try:
        tip = mark.note.base if row.state == "broken" else trees.tip(row.name, cancel)
        found = None
        if not forced:
            found = condition_of(trees.repository, row.name, mark.note.base, trees.git, cancel)
            if not found.clean:
                mark.leave()
                return found.words
        remove_worktree(trees.repository, row.name, trees.git, cancel, clean=found, tip=tip or None)
    except (CheckreinError, OSError) as error:
        mark.leave()
        return str(error)
    mark.remove()
    return ""


def _row(repository: Repository, folder: str, git: Git, cancel: Cancel) -> Row:
    path = os.path.join(repository.place, folder)
    note, alive = look(os.path.join(repository.marks, f"{folder}.json"))
    known = note or Note()
    found: Condition | None = None
    state: RowState
    reason = lock_reason(repository, folder)
    if alive:
        state, why = "in_use", f"{known.owner or 'its owner'} works in it (process {known.pid})"
    elif known.state == "creating" or _is_a_rest(repository, folder, note):
        state, why = "broken", "its start was never finished"
    elif known.state == "removing" and not os.path.lexists(os.path.join(path, ".git")):
        state, why = "broken", "its removal was never finished"
    elif reason is not None and not reason.startswith(REASON):
        state, why = "locked", f"locked with git: {reason or 'without a reason'}"
    else:
        found = condition_of(repository, folder, known.base, git, cancel)
        state, why = ("clean" if found.clean else "dirty"), found.words
    return Row(
        name=folder,
        path=path,
        branch=branch_of(folder),
        state=state,
        owner=known.owner,
        pid=known.pid if alive else 0,
        since=known.since,
        seconds=_age(known, path),
        changes=found.changes if found else 0,
        commits=found.commits if found else 0,
        reason=why,
    )


def _is_a_rest(repository: Repository, folder: str, note: Note | None) -> bool:
    """A mark of ours with no note, directory or entry of git behind it."""
    path = os.path.join(repository.place, folder)
    return (
        note is not None
        and not note.base
        and not os.path.lexists(path)
        and admin_dir(repository, folder) is None
    )


def _age(note: Note, path: str) -> float | None:
    if note.started:
        return max(0.0, now() - note.started)
    try:
        return max(0.0, now() - os.lstat(path).st_mtime)
    except OSError:
        return None


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []
