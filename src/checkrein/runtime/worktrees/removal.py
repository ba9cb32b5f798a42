"""Removes a worktree: its directory, what git knows of it, its branch, its mark."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING

from checkrein.base.errors import FileError
from checkrein.base.files import read_text
from checkrein.runtime.worktrees.repository import require_own_places
from checkrein.runtime.worktrees.worktree_names import branch_of

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.worktrees.condition import Condition
    from checkrein.runtime.worktrees.git_calls import Git
    from checkrein.runtime.worktrees.repository import Repository


def remove_worktree(
    repository: Repository,
    folder: str,
    git: Git,
    cancel: Cancel,
    *,
    clean: Condition | None,
    tip: str | None,
) -> None:
    """The caller holds the mark. With `clean`, the condition that it found, git looks once more whether there
    is anything to lose; with None everything goes. The branch goes if it still is at `tip`."""
    require_own_places(repository)
    path = os.path.join(repository.place, folder)
    if admin_dir(repository, folder) is not None:
        git.call(repository.root, cancel, "worktree", "unlock", "--", path)
    for name in clean.links if clean is not None else ():
        os.unlink(os.path.join(path, name))
    if clean is None or not os.path.lexists(os.path.join(path, ".git")):
        _delete_tree(path)
    if admin_dir(repository, folder) is not None:
        options = ("--force",) if clean is None else ()
        git.must(repository.root, cancel, "worktree", "remove", *options, "--", path)
    _delete_remains(repository, folder)
    branch = f"refs/heads/{branch_of(folder)}"
    if tip is not None:
        git.call(repository.root, cancel, "update-ref", "-d", branch, tip)


def admin_dir(repository: Repository, folder: str) -> str | None:
    """The directory that git keeps for a worktree. Its name may differ from the worktree's."""
    marker = os.path.join(repository.place, folder, ".git")
    holder = os.path.join(repository.git_dir, "worktrees")
    with contextlib.suppress(OSError):
        for entry in os.scandir(holder):
            back = read_text(os.path.join(entry.path, "gitdir"), limit=8192).text.removesuffix("\n")
            if back and os.path.normpath(os.path.join(entry.path, back)) == marker:
                return entry.path
    return None


def _delete_tree(path: str) -> None:
    """Never through a link. Directories get back the rights of their owner where they lack them."""
    if os.path.islink(path):
        os.unlink(path)
    shutil.rmtree(path, ignore_errors=True)
    if os.path.isdir(path):
        for directory, _, _ in os.walk(path):
            with contextlib.suppress(OSError):
                os.chmod(directory, 0o700)
        shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        raise FileError(f"{path} can't be removed.", kind="worktree_kept", hint="Remove it by hand.")


def _delete_remains(repository: Repository, folder: str) -> None:
    """What a broken start left: a directory of git that does not name its worktree yet."""
    admin = os.path.join(repository.git_dir, "worktrees", folder)
    if os.path.isdir(admin) and not os.path.lexists(os.path.join(admin, "gitdir")):
        _delete_tree(admin)
