"""The worktree of a whole session: made before the session opens, let go of after it closes."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from checkrein.base.errors import CheckreinError
from checkrein.base.files import beneath
from checkrein.llm.cancel import Cancel
from checkrein.model.view import View
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.session.options import Options
from checkrein.runtime.trust import standing
from checkrein.runtime.worktrees.alone import wishes_of
from checkrein.runtime.worktrees.hooked_worktrees import end_worktree, make_worktree
from checkrein.runtime.worktrees.worktree import Kept, Worktree
from checkrein.runtime.worktrees.worktrees import Worktrees

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checkrein.runtime.hooks.runner import HookRunner
    from checkrein.runtime.session.events import Event

T = TypeVar("T")
_EVENTS = ("WorktreeCreate", "WorktreeRemove")
_HEAD = 65_536
_OWNER = "a session"


class Workplace:
    """`view` is the project that the user named. `open_new` or `open_old` first, `close` at the end."""

    def __init__(self, view: View, options: Options, model: str | None, env: Mapping[str, str]) -> None:
        self._view = view
        self._options = options
        self._model = model
        self._env = env
        self._stack = ExitStack()
        self._trees: Worktrees | None = None
        self._trust = standing(view.project, trusted=options.trust)
        self._worktree: Worktree | None = None

    @property
    def path(self) -> str:
        assert self._worktree is not None
        return self._worktree.path

    @property
    def cwd(self) -> str:
        """The same directory in the worktree, as far as it exists there."""
        place = self._view.project.place
        if place.repo_root is not None and beneath(place.cwd, place.repo_root):
            there = os.path.normpath(os.path.join(self.path, os.path.relpath(place.cwd, place.repo_root)))
            return there if os.path.isdir(there) else self.path
        return self.path

    def open_new(self, name: str | None) -> None:
        self._worktree = self._staged(
            lambda hooks: make_worktree(hooks, self._opened, name, _OWNER, Cancel()),
            lambda: self._opened().create(name, _OWNER, Cancel()),
        )

    def open_old(self, path: str) -> None:
        """Back into the worktree that a session had. Raises CheckreinError when it is gone or in use."""
        try:
            self._worktree = self._opened().enter(path, _OWNER, Cancel())
        except CheckreinError:
            if not (self._has_hooks() and os.path.isdir(path)):
                raise
            self._worktree = Worktree(path, os.path.basename(path), "", "", self._view.project.place.cwd)

    def close(self) -> Kept | None:
        """Let go of it; what stays, and why."""
        tree = self._worktree
        try:
            if tree is None:
                return None
            return self._staged(
                lambda hooks: end_worktree(hooks, self._opened, tree, Cancel()),
                lambda: self._opened().finish(tree, Cancel()),
            )
        finally:
            if self._trees is not None:
                self._trees.close()
            self._stack.close()

    def _has_hooks(self) -> bool:
        return any(hook.name in _EVENTS for hook in self._trust.project.hooks)

    def _staged(self, stage: Callable[[HookRunner], Generator[Event, None, T]], plain: Callable[[], T]) -> T:
        """With hooks for worktrees, a session that is never saved fires them."""
        if self._options.bare or not self._options.hooks or not self._has_hooks():
            return plain()
        from checkrein.runtime.session.session import Session

        asked = replace(
            self._options,
            persist=False,
            resume=None,
            continue_=False,
            fork=False,
            session_id=None,
            record=None,
        )
        with Session(self._view, model=self._model, options=asked, env=dict(self._env)) as session:
            return drained(stage(session.conversation.hooks), ignored)

    def _opened(self) -> Worktrees:
        if self._trees is None:
            spawner = self._stack.enter_context(Spawner(lambda origin: True))
            self._trees = Worktrees(
                self._view.project.place.cwd,
                env=self._env,
                spawner=spawner,
                cancel=Cancel(),
                wishes=wishes_of(self._trust.project),
            )
        return self._trees


def worktree_of_session(reference: str, cwd: str, sessions: str | None) -> str | None:
    """The worktree that a saved session worked in; None when it had none, or there is no such session."""
    from checkrein.runtime.store import SessionStore

    store = SessionStore(sessions)
    try:
        with open(store.find(reference, cwd), "rb") as file:
            if b'"worktree"' not in file.read(_HEAD):
                return None
        found = store.load(reference, cwd).state.get("worktree")
    except (CheckreinError, OSError):
        return None
    return found if isinstance(found, str) and found else None
