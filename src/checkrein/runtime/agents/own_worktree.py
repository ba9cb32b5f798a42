"""The worktree of a subagent: made for it, entered again when it goes on, and gone when it holds nothing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.errors import CheckreinError
from checkrein.base.files import beneath
from checkrein.llm.port import Cancel
from checkrein.policy.fences import Fence
from checkrein.policy.isolation import Isolation, isolate
from checkrein.policy.situation import Situation
from checkrein.runtime.session.channel import drained
from checkrein.runtime.session.events import Event
from checkrein.runtime.worktrees.confine import confine
from checkrein.runtime.worktrees.hooked_worktrees import end_worktree, make_worktree, session_worktrees
from checkrein.runtime.worktrees.worktree_names import is_folder
from checkrein.runtime.worktrees.worktrees import Worktrees

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Child, Conversation
    from checkrein.runtime.store.kept_task import KeptTask
    from checkrein.runtime.tools.port import Aside
    from checkrein.runtime.worktrees.worktree import Kept, Row, Worktree

Emit = Callable[[Event], object]


class OwnWorktrees:
    """For the subagents of one conversation. Any thread may use it."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._trees: Worktrees | None = None
        self._held: dict[str, Worktree] = {}
        self._opening = threading.Lock()

    def make(self, task: str, cancel: Cancel, emit: Emit, wanted: str | None = None) -> Worktree:
        """A new one for a task, with its name if that can be one. Raises CheckreinError where there can be
        none."""
        hooks = self._conversation.hooks
        name = wanted if wanted is not None and is_folder(wanted) else f"agent-{task[1:9]}"
        made = drained(make_worktree(hooks, partial(self._open, cancel), name, task, cancel), emit)
        self._held[task] = made
        return made

    def enter(self, task: str, path: str, cancel: Cancel) -> Worktree:
        """Back into one that was kept."""
        self._held[task] = found = self._open(cancel).enter(path, task, cancel)
        return found

    def confinement(self, worktree: Worktree) -> Callable[[Situation], Situation]:
        """What binds a child to its worktree."""
        situation = self._conversation.gate.situation
        here, home = situation.root, os.path.realpath(situation.home) if situation.home else ""
        if worktree.branch:
            return lambda found: confine(found, self._open(Cancel()).repository, worktree)
        checkout = here if beneath(worktree.root, here) else worktree.root
        fence = Fence(checkout, f"the worktree {worktree.name}")
        alone = Isolation(fences=(fence,), checkout=checkout, root=here, worktree=worktree.path, home=home)
        return lambda found: isolate(found, alone)

    def end(self, task: str, cancel: Cancel, emit: Emit) -> Kept | None:
        """Let go of a task's worktree; None when nothing of it stays, or it had none."""
        worktree = self._held.pop(task, None)
        if worktree is None:
            return None
        hooks = self._conversation.hooks
        return drained(end_worktree(hooks, partial(self._open, cancel), worktree, cancel), emit)

    def placed(self, kept: KeptTask, child: Child, aside: Aside) -> tuple[Child, KeptTask]:
        """A child in its own worktree: the one that it had, or a new one."""
        had = kept.worktree
        if had is not None and os.path.isdir(had):
            worktree = self.enter(kept.id, had, aside.cancel)
        else:
            wanted = kept.name if kept.team is not None else None
            worktree = self.make(kept.id, aside.cancel, aside.emit, wanted)
        return replace(child, confine=self.confinement(worktree)), replace(kept, worktree=worktree.path)

    def released(self, kept: KeptTask, emit: Emit) -> KeptTask:
        """A task that has ended. Its worktree stays only if there is something in it."""
        if kept.worktree is None:
            return kept
        try:
            stays = self.end(kept.id, Cancel(), emit)
        except CheckreinError as error:
            return replace(kept, cut=f"{kept.cut}\nIts worktree stays as it is: {error.message}".strip())
        return replace(kept, worktree=None if stays is None else stays.path)

    def recovered(self, kept: KeptTask, emit: Emit) -> KeptTask:
        """A task of a process that is gone, without the worktree that it left, unless there is something in
        it."""
        if kept.worktree is None or not os.path.isdir(kept.worktree):
            return replace(kept, worktree=None)
        try:
            self.enter(kept.id, kept.worktree, Cancel())
        except CheckreinError:
            gone = self._ends_removal(kept.worktree)
            return replace(kept, worktree=None) if gone else kept
        return self.released(kept, emit)

    def _ends_removal(self, path: str) -> bool:
        try:
            return self._open(Cancel()).end_removal(path, Cancel())
        except CheckreinError:
            return False

    def changes(self, path: str, cancel: Cancel) -> str:
        """What the work in a worktree changed, and where it meets that of others; "" when that is nothing."""
        crew = self._conversation.services.crew

        def called(row: Row) -> str:
            task = crew.find(row.owner)
            return task.kept.name or row.name if task is not None else row.name

        try:
            return self._open(cancel).compared(cancel, called).of(path)
        except (CheckreinError, OSError):
            return ""

    def close(self) -> None:
        if self._trees is not None:
            self._trees.close()

    def _open(self, cancel: Cancel) -> Worktrees:
        with self._opening:
            if self._trees is None:
                services = self._conversation.services
                self._trees = session_worktrees(services, self._conversation.gate.situation.root, cancel)
            return self._trees
