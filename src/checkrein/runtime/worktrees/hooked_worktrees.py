"""Worktrees of a session: made by its WorktreeCreate hook where it has one, else by git.

Making and ending one are stages: they yield the events of the hooks that run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from checkrein.base.errors import FileError
from checkrein.base.files import beneath
from checkrein.runtime.hooks import payloads
from checkrein.runtime.worktrees.alone import wishes_of
from checkrein.runtime.worktrees.worktree import Kept, Worktree
from checkrein.runtime.worktrees.worktree_names import any_name, folder_name
from checkrein.runtime.worktrees.worktrees import Worktrees

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.hooks.runner import HookRunner
    from checkrein.runtime.session.events import Event
    from checkrein.runtime.session.services import Services


def session_worktrees(services: Services, cwd: str, cancel: Cancel) -> Worktrees:
    """The worktrees of the repository that a session works in, under its trust and settings."""
    return Worktrees(
        cwd,
        env=services.child_env,
        spawner=services.spawner,
        cancel=cancel,
        wishes=wishes_of(services.trust.project),
    )


def make_worktree(
    hooks: HookRunner, trees: Callable[[], Worktrees], name: str | None, owner: str, cancel: Cancel
) -> Generator[Event, None, Worktree]:
    """`trees` opens the repository; a hook needs none. Raises FileError when it can't be made."""
    if not hooks.has("WorktreeCreate"):
        return trees().create(name, owner, cancel)
    folder = folder_name(name) if name is not None else any_name()
    outcome = yield from hooks.fire(payloads.worktree_create(hooks.common, folder), cancel)
    path = outcome.worktree_path
    if outcome.blocked or not outcome.continue_ or path is None:
        why = outcome.reason or " ".join(outcome.errors) or "it names no directory"
        raise FileError(
            f"The WorktreeCreate hook made no worktree: {why}",
            kind="worktree_hook_failed",
            hint="The last line that it prints is the path of the directory.",
            origin=outcome.origin,
        )
    full = os.path.realpath(os.path.join(hooks.common.cwd, path))
    if not os.path.isdir(full):
        raise FileError(
            f"The WorktreeCreate hook names {path}, which is not a directory.", kind="worktree_hook_failed"
        )
    if any(beneath(os.path.realpath(one), full) for one in (hooks.common.cwd, os.path.expanduser("~"))):
        raise FileError(
            f"The WorktreeCreate hook names {path}, which holds more than a checkout: the directory of the "
            "session or your home is in it.",
            kind="worktree_hook_failed",
            hint="Let it make a directory of its own.",
            origin=outcome.origin,
        )
    return Worktree(path=full, name=folder, branch="", base="", root=hooks.common.cwd)


def end_worktree(
    hooks: HookRunner, trees: Callable[[], Worktrees], worktree: Worktree, cancel: Cancel
) -> Generator[Event, None, Kept | None]:
    """Let go of a worktree. One that a hook made is for the WorktreeRemove hook to remove, and to look at
    first; without such a hook it stays."""
    if worktree.branch:
        return trees().finish(worktree, cancel)
    if not hooks.has("WorktreeRemove"):
        return Kept(worktree.path, worktree.name, "", 0, 0, "no WorktreeRemove hook removes it")
    yield from hooks.fire_past(payloads.worktree_remove(hooks.common, worktree.path), cancel)
    if not os.path.isdir(worktree.path):
        return None
    return Kept(worktree.path, worktree.name, "", 0, 0, "the WorktreeRemove hook left it")
