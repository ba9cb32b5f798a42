"""A session that moves into a worktree while it runs, and back: what EnterWorktree and ExitWorktree do.

The project stays the one that the session started with; its calls run in the worktree.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.base.files import beneath
from checkrein.policy.updates import AddDirectories
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.worktrees.hooked_worktrees import end_worktree, make_worktree, session_worktrees
from checkrein.runtime.worktrees.worktree import Kept, Worktree
from checkrein.runtime.worktrees.worktrees import Worktrees

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.call.host import ToolHost
    from checkrein.runtime.session.events import Event
    from checkrein.runtime.session.services import Services

STATE = "entered_worktree"
"""Where the transcript keeps the worktree that a session is in, and whether the session made it."""


class SessionMoves:
    """For the conversation at the root of a tree; one call at a time uses it."""

    def __init__(self, services: Services, host: ToolHost) -> None:
        self._services = services
        self._host = host
        self._trees: Worktrees | None = None
        self._current: Worktree | None = None
        self._made = False
        self._before = ""

    def enter(
        self, name: str | None, path: str | None, cancel: Cancel, emit: Callable[[Event], object]
    ) -> Worktree:
        """Into a new worktree, or into one of this repository that exists. Raises CheckreinError."""
        if self._current is not None and path is None:
            raise UsageError(f"The session is in the worktree {self._current.path}. Leave it first.")
        owner = f"session {self._host.bench.session_id}"
        if path is not None:
            full = os.path.join(self._host.cwd, path)
            found = self._opened(cancel).enter(full, owner, cancel)
        else:
            stage = make_worktree(self._host.hooks, lambda: self._opened(cancel), name, owner, cancel)
            found = drained(stage, emit)
        if self._current is not None:
            self._let_go(self._current, cancel)
        else:
            self._before = self._host.cwd
        self._current, self._made = found, path is None
        self._go(self._there(found), found.path)
        return found

    def leave(
        self, *, remove: bool, discard: bool, cancel: Cancel, emit: Callable[[Event], object]
    ) -> tuple[Worktree, Kept | None]:
        """Back to where the session was. Raises UsageError where work would be lost that nobody gave up."""
        tree = self._current
        if tree is None:
            raise UsageError("The session is not in a worktree that it entered.")
        if remove and not self._made:
            raise UsageError("The session did not make this worktree; it stays. Use the action `keep`.")
        kept: Kept | None = None
        if not remove:
            kept = self._let_go(tree, cancel)
        elif not tree.branch:
            kept = drained(end_worktree(self._host.hooks, self._refuse, tree, cancel), emit)
        else:
            found = self._opened(cancel).condition(tree, cancel)
            if not (found.clean or discard):
                raise UsageError(f"{tree.path} has {found.words}. `discard_changes` gives that up.")
            self._opened(cancel).discard(tree, cancel)
        self._current = None
        self._go(self._before, None)
        return tree, kept

    def restore(self, path: str, *, made: bool, cancel: Cancel) -> str:
        """Back into the worktree of a continued session; what the model must know."""
        try:
            self.enter(None, path, cancel, ignored)
            self._made = made
            self._note()
        except (CheckreinError, OSError) as error:
            return f"The worktree {path} can't be used any more: {error}. You are in {self._host.cwd}."
        return f"You are in the worktree {path}, as before."

    def close(self, cancel: Cancel) -> None:
        """At the end of the session: what has no work in it goes, unless a command may still write there."""
        tree, self._current = self._current, None
        busy = any(shell.status == "running" for shell in self._host.bench.state.shells.values())
        try:
            if tree is not None and tree.branch:
                trees = self._opened(cancel)
                trees.finish(tree, cancel) if self._made and not busy else trees.keep(tree, cancel)
        finally:
            if self._trees is not None:
                self._trees.close()

    def _let_go(self, tree: Worktree, cancel: Cancel) -> Kept:
        if tree.branch:
            return self._opened(cancel).keep(tree, cancel)
        return Kept(tree.path, tree.name, "", 0, 0, "a hook made it")

    def _there(self, tree: Worktree) -> str:
        """The directory of the session in the worktree, as far as it exists there."""
        place = self._host.bench.place
        if place.repo_root is None or not beneath(self._before, place.repo_root):
            return tree.path
        there = os.path.normpath(os.path.join(tree.path, os.path.relpath(self._before, place.repo_root)))
        return there if os.path.isdir(there) else tree.path

    def _go(self, directory: str, path: str | None) -> None:
        desk = self._host.bench.state
        if path is not None and desk.add_root(path):
            update = AddDirectories(directories=(path,), destination="session")
            for _ in self._host.permissions.take((update,), "asker"):
                pass
        desk.set_cwd(directory)
        self._note()

    def _note(self) -> None:
        tree = self._current
        kept = None if tree is None else {"path": tree.path, "made": self._made}
        self._host.recorder.writer.state(**{STATE: kept})

    def _refuse(self) -> Worktrees:
        raise AssertionError("a worktree that a hook made needs no repository")

    def _opened(self, cancel: Cancel) -> Worktrees:
        if self._trees is None:
            services = self._services
            self._trees = session_worktrees(services, self._host.bench.place.cwd, cancel)
        return self._trees
