"""Worktrees without a session: the command line makes, lists and cleans them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from checkrein.llm.cancel import Cancel
from checkrein.model.project import Project
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.worktrees.worktree import Wishes
from checkrein.runtime.worktrees.worktrees import Worktrees

_DAYS = 30


@contextmanager
def worktrees_of(cwd: str, env: Mapping[str, str], cancel: Cancel | None = None) -> Iterator[Worktrees]:
    """Nothing that a repository names runs."""
    with Spawner(lambda origin: True) as spawner:
        trees = Worktrees(cwd, env=env, spawner=spawner, cancel=cancel or Cancel())
        try:
            yield trees
        finally:
            trees.close()


def cleanup_days(project: Project) -> float:
    """The setting `cleanupPeriodDays`: at least a day."""
    days = project.setting("cleanupPeriodDays")
    return max(1, days) if isinstance(days, int | float) and not isinstance(days, bool) else _DAYS


def wishes_of(project: Project) -> Wishes:
    """The settings `worktree.*` of the part of a project that counts."""
    base = project.setting("worktree.baseRef")
    return Wishes(
        base="head" if base == "head" else "fresh",
        links=_texts(project.setting("worktree.symlinkDirectories")),
        sparse=_texts(project.setting("worktree.sparsePaths")),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()
