"""The worktrees of one repository: made, entered, finished, listed and cleaned.

Each is in one place, `<main checkout>/.claude/worktrees/<name>`, on its own branch, and has one owner at a
time. A dead owner's worktree is free. What would be lost is removed only on demand.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from checkrein.base.errors import FileError, NotFoundError
from checkrein.dialects.claude.place import main_checkout
from checkrein.runtime.worktrees.checkout import check_out, is_free, lock, undo, unlock
from checkrein.runtime.worktrees.condition import Condition, condition_of
from checkrein.runtime.worktrees.git_calls import Git
from checkrein.runtime.worktrees.owners import Mark, look
from checkrein.runtime.worktrees.removal import remove_worktree
from checkrein.runtime.worktrees.repository import base_commit, make_place, repository_of
from checkrein.runtime.worktrees.worktree import NO_WISHES, Cleaned, Kept, Row, Wishes, Worktree
from checkrein.runtime.worktrees.worktree_names import any_name, branch_of, candidates, folder_name

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Spawner
    from checkrein.runtime.worktrees.overlaps import Comparison


class Worktrees:
    """For one repository. Any thread may use it."""

    def __init__(
        self,
        cwd: str,
        *,
        env: Mapping[str, str],
        spawner: Spawner,
        cancel: Cancel,
        wishes: Wishes = NO_WISHES,
    ) -> None:
        """Raises NotFoundError or FileError where there can be no worktrees."""
        self.git = Git(env, spawner)
        self.repository = repository_of(cwd, self.git, cancel)
        self._wishes = wishes
        self._marks: dict[str, Mark] = {}
        self._lock = threading.Lock()

    def create(self, name: str | None, owner: str, cancel: Cancel) -> Worktree:
        """A new one from the default branch, for this owner alone. A name that is taken gets a number."""
        wanted = folder_name(name) if name is not None else any_name()
        make_place(self.repository)
        base = base_commit(self.repository, self.git, cancel, self._wishes.base)
        for folder in candidates(wanted):
            mark = Mark.take(self.mark_path(folder))
            if mark is None:
                continue
            if not is_free(self.repository, folder, self.git, cancel):
                mark.leave()
                continue
            try:
                mark.write(state="creating", base=base, owner=owner)
                check_out(self.repository, folder, base, owner, self.git, self._wishes, cancel)
                mark.write(state="ready", base=base, owner=owner)
            except BaseException:
                undo(self.repository, folder, base, self.git)
                mark.leave() if os.path.lexists(self._path(folder)) else mark.remove()
                raise
            return self._held(folder, branch_of(folder), base, mark)
        raise FileError(f"Every name like {wanted} is taken.", kind="worktree_name")

    def enter(self, path: str, owner: str, cancel: Cancel) -> Worktree:
        """Back into one that exists, for example after resume. A living owner keeps it."""
        folder = self._folder(path)
        make_place(self.repository)
        mark = Mark.take(self.mark_path(folder))
        if mark is None:
            note, _ = look(self.mark_path(folder))
            who = f"{note.owner} in process {note.pid}" if note is not None and note.pid else "another owner"
            raise FileError(
                f"The worktree {folder} is in use by {who}.",
                kind="worktree_in_use",
                hint="Wait until it ends, or stop it.",
                retryable=True,
            )
        try:
            if mark.note.state == "creating":
                raise FileError(
                    f"The worktree {folder} was never finished.",
                    kind="worktree_broken",
                    hint="Run `checkrein worktree clean`.",
                )
            lock(self.repository, folder, owner, self.git, cancel)
            base = mark.note.base or self._meeting_point(folder, cancel)
            branch = self._branch(folder, cancel)
            mark.write(state="ready", base=base, owner=owner)
        except BaseException:
            mark.leave()
            raise
        return self._held(folder, branch, base, mark)

    def finish(self, worktree: Worktree, cancel: Cancel) -> Kept | None:
        """Let go of a worktree: removed when nothing would be lost, else kept and free for the next owner."""
        tip = self.tip(worktree.name, cancel)
        found = self.condition(worktree, cancel)
        if found.clean:
            try:
                self._remove(worktree, tip, cancel, found)
                return None
            except FileError as error:
                found = Condition(unknown=error.message)
        return self._let_go(worktree, found, cancel)

    def keep(self, worktree: Worktree, cancel: Cancel) -> Kept:
        """Let go of a worktree that stays in any case."""
        return self._let_go(worktree, self.condition(worktree, cancel), cancel)

    def discard(self, worktree: Worktree, cancel: Cancel) -> None:
        """Remove a worktree with everything in it, and its branch."""
        self._remove(worktree, self.tip(worktree.name, cancel), cancel, None)

    def condition(self, worktree: Worktree, cancel: Cancel) -> Condition:
        return condition_of(self.repository, worktree.name, worktree.base, self.git, cancel)

    def list(self, cancel: Cancel) -> tuple[Row, ...]:
        from checkrein.runtime.worktrees.rows import rows_of

        return rows_of(self.repository, self.git, cancel)

    def compared(self, cancel: Cancel, called: Callable[[Row], str] | None = None) -> Comparison:
        """What each worktree with work in it changed, and where they meet. `called` names them for the
        reader."""
        from checkrein.runtime.worktrees.overlaps import compare

        return compare(self, cancel, called or (lambda row: row.name))

    def clean(self, days: float, cancel: Cancel, *, force: Iterable[str] = ()) -> Cleaned:
        """Remove what nobody uses, has nothing to lose and is older than so many days; and what a broken
        start left. `force` names others that nobody uses."""
        from checkrein.runtime.worktrees.rows import clean_rows

        return clean_rows(self, days, cancel, frozenset(force))

    def end_removal(self, path: str, cancel: Cancel) -> bool:
        """Finish what a process began to remove before it was killed. Whether that was so, and it is gone."""
        from checkrein.runtime.worktrees.rows import end_removal

        place, folder = os.path.split(path)
        return place == self.repository.place and end_removal(self, folder, cancel)

    def close(self) -> None:
        """Let go of all. They stay as they are, free for whoever comes back."""
        with self._lock:
            marks, self._marks = self._marks, {}
        for mark in marks.values():
            mark.leave()

    def mark_path(self, folder: str) -> str:
        return os.path.join(self.repository.marks, f"{folder}.json")

    def tip(self, folder: str, cancel: Cancel) -> str | None:
        branch = f"refs/heads/{branch_of(folder)}"
        return self.git.text(self.repository.root, cancel, "rev-parse", "--verify", "--quiet", branch)

    def _path(self, folder: str) -> str:
        return os.path.join(self.repository.place, folder)

    def _held(self, folder: str, branch: str, base: str, mark: Mark) -> Worktree:
        with self._lock:
            self._marks[folder] = mark
        return Worktree(self._path(folder), folder, branch, base, self.repository.root)

    def _branch(self, folder: str, cancel: Cancel) -> str:
        """Its own branch; where somebody else made it, the one that it is on."""
        if self.tip(folder, cancel) is not None:
            return branch_of(folder)
        on = self.git.text(self._path(folder), cancel, "symbolic-ref", "--quiet", "--short", "HEAD")
        return on or branch_of(folder)

    def _mark(self, folder: str) -> Mark:
        with self._lock:
            mark = self._marks.get(folder)
        if mark is None:
            raise NotFoundError(f"The worktree {folder} is not yours.", kind="worktree_not_found")
        return mark

    def _remove(self, worktree: Worktree, tip: str | None, cancel: Cancel, clean: Condition | None) -> None:
        mark = self._mark(worktree.name)
        note = mark.note
        mark.write(state="removing", base=note.base, owner=note.owner)
        try:
            remove_worktree(self.repository, worktree.name, self.git, cancel, clean=clean, tip=tip)
        except BaseException:
            mark.write(state="ready", base=note.base, owner=note.owner)
            raise
        with self._lock:
            self._marks.pop(worktree.name, None)
        mark.remove()

    def _let_go(self, worktree: Worktree, found: Condition, cancel: Cancel) -> Kept:
        mark = self._mark(worktree.name)
        unlock(self.repository, worktree.name, self.git, cancel)
        with self._lock:
            self._marks.pop(worktree.name, None)
        mark.leave()
        return Kept(worktree.path, worktree.name, worktree.branch, found.changes, found.commits, found.words)

    def _folder(self, path: str) -> str:
        """The name of the worktree at a path: one of this repository, in the one place."""
        place, folder = os.path.split(os.path.normpath(os.path.abspath(path)))
        here = self._path(folder)
        inside = os.path.realpath(place) == self.repository.place and not os.path.islink(here)
        if not inside or not os.path.isdir(here) or main_checkout(here) != self.repository.root:
            raise NotFoundError(
                f"{path} is not a worktree of {self.repository.root}.",
                kind="worktree_not_found",
                hint="`checkrein worktree list` shows them.",
            )
        return folder

    def _meeting_point(self, folder: str, cancel: Cancel) -> str:
        """Where the commits of a worktree began that somebody else made."""
        base = base_commit(self.repository, self.git, cancel)
        return self.git.text(self._path(folder), cancel, "merge-base", "HEAD", base) or ""
