"""Makes the checkout of a new worktree with git, and locks it with git's own lock while it has an owner."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from checkrein.base.errors import CheckreinError, FileError
from checkrein.base.files import read_text
from checkrein.runtime.worktrees.git_calls import said
from checkrein.runtime.worktrees.included import copy_included, link_directories
from checkrein.runtime.worktrees.removal import admin_dir, remove_worktree
from checkrein.runtime.worktrees.worktree_names import branch_of

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.worktrees.git_calls import Git
    from checkrein.runtime.worktrees.repository import Repository
    from checkrein.runtime.worktrees.worktree import Wishes

REASON = "checkrein: "
"""How the reason of our locks begins."""


def is_free(repository: Repository, folder: str, git: Git, cancel: Cancel) -> bool:
    """Whether neither a directory, nor git, nor a branch has this name."""
    if os.path.lexists(os.path.join(repository.place, folder)) or admin_dir(repository, folder) is not None:
        return False
    branch = f"refs/heads/{branch_of(folder)}"
    return git.text(repository.root, cancel, "rev-parse", "--verify", "--quiet", branch) is None


def check_out(
    repository: Repository, folder: str, base: str, owner: str, git: Git, wishes: Wishes, cancel: Cancel
) -> None:
    """Submodules stay uninitialised. Hooks of the repository do not run."""
    path = os.path.join(repository.place, folder)
    bare = ("--no-checkout",) if wishes.sparse else ()
    options = ("--lock", "--reason", REASON + owner, "--no-track", *bare, "-b", branch_of(folder))
    done = git.call(repository.root, cancel, "worktree", "add", *options, "--", path, base)
    if done.exit_code:
        why = "cancelled" if cancel.cancelled else said(done) or f"git ended with {done.exit_code}"
        raise FileError(f"The worktree {folder} can't be made: {why}", kind="worktree_git_failed")
    if wishes.sparse:
        git.must(path, cancel, "sparse-checkout", "set", "--cone", "--end-of-options", *wishes.sparse)
        git.must(path, cancel, "read-tree", "-m", "-u", "HEAD")
    copy_included(repository.root, path, git, cancel)
    link_directories(repository.root, path, wishes.links)
    if cancel.cancelled:
        raise FileError(f"The worktree {folder} can't be made: cancelled", kind="worktree_git_failed")


def undo(repository: Repository, folder: str, base: str, git: Git) -> None:
    """Remove what a failed start left. What can't go now is `broken` in the list; what somebody else made
    under the same name in that moment stays."""
    from checkrein.llm.cancel import Cancel

    admin = admin_dir(repository, folder)
    if admin is not None and not (lock_reason(repository, folder) or "").startswith(REASON):
        return
    with contextlib.suppress(CheckreinError, OSError):
        remove_worktree(repository, folder, git, Cancel(), clean=None, tip=base)


def lock_reason(repository: Repository, folder: str) -> str | None:
    """The reason of git's lock; None when there is none."""
    admin = admin_dir(repository, folder)
    if admin is None or not os.path.lexists(os.path.join(admin, "locked")):
        return None
    return read_text(os.path.join(admin, "locked"), limit=4096).text.strip()


def lock(repository: Repository, folder: str, owner: str, git: Git, cancel: Cancel) -> None:
    """Take git's lock. That of a dead owner of ours is replaced, one of somebody else is respected."""
    path = os.path.join(repository.place, folder)
    reason = lock_reason(repository, folder)
    if reason is not None and not reason.startswith(REASON):
        raise FileError(
            f"The worktree {folder} is locked: {reason or 'without a reason'}",
            kind="worktree_in_use",
            hint=f"If nobody works in it, run `git worktree unlock {path}`.",
        )
    if reason is not None:
        git.must(repository.root, cancel, "worktree", "unlock", "--", path)
    git.must(repository.root, cancel, "worktree", "lock", "--reason", REASON + owner, "--", path)


def unlock(repository: Repository, folder: str, git: Git, cancel: Cancel) -> None:
    git.call(repository.root, cancel, "worktree", "unlock", "--", os.path.join(repository.place, folder))
