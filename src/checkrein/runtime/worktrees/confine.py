"""Binds a conversation to its worktree: the main checkout can be read and not changed.

Of the repository, git needs the objects, the branch of the worktree, its own directory and the stash. The
files that tie the worktree to its repository stay as they are.
"""

from __future__ import annotations

import os

from checkrein.base.files import beneath
from checkrein.policy.fences import Fence
from checkrein.policy.isolation import Isolation, isolate
from checkrein.policy.situation import Situation
from checkrein.runtime.worktrees.removal import admin_dir
from checkrein.runtime.worktrees.repository import Repository
from checkrein.runtime.worktrees.worktree import Worktree

_TIES = ("gitdir", "commondir", "locked", "config.worktree")


def confine(
    situation: Situation, repository: Repository, worktree: Worktree, checkout: str | None = None
) -> Situation:
    """The situation of a child that works in a worktree. `checkout` is where its parent works: the main
    checkout, or the linked worktree that the session started in."""
    checkout = checkout or repository.root
    root = situation.root if beneath(situation.root, checkout) else checkout
    isolation = Isolation(
        fences=fences_of(repository, worktree, checkout),
        checkout=checkout,
        root=root,
        worktree=worktree.path,
        home=os.path.realpath(situation.home) if situation.home else "",
    )
    return isolate(situation, isolation)


def fences_of(repository: Repository, worktree: Worktree, checkout: str) -> tuple[Fence, ...]:
    name = f"the worktree {worktree.name}"
    place = os.path.relpath(worktree.path, repository.root)
    opened, closed = _git_places(repository, worktree)
    if beneath(repository.git_dir, repository.root):
        below = os.path.relpath(repository.git_dir, repository.root)
        fences = [
            Fence(
                repository.root,
                name,
                (place, *(f"{below}/{one}" for one in opened)),
                (f"{place}/.git", *(f"{below}/{one}" for one in closed)),
            )
        ]
    else:
        main = Fence(repository.root, name, (place,), (f"{place}/.git",))
        fences = [main, Fence(repository.git_dir, name, opened, closed)]
    if not beneath(checkout, repository.root):
        fences.append(Fence(checkout, name))
    return tuple(fences)


def _git_places(repository: Repository, worktree: Worktree) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Below the directory of git: what may change for the work in a worktree, and which parts of it not."""
    branch = f"refs/heads/{worktree.branch}"
    files = (branch, f"logs/{branch}", "refs/stash", "logs/refs/stash")
    locks = (*(f"{one}.lock" for one in files), "packed-refs.lock")
    admin = admin_dir(repository, worktree.name)
    if admin is None:
        return ("objects", *files, *locks), ()
    own = os.path.relpath(admin, repository.git_dir)
    return ("objects", *files, *locks, own), tuple(f"{own}/{name}" for name in _TIES)
