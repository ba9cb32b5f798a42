"""What would be lost with a worktree: changes, untracked files, commits that exist nowhere else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.files import read_text
from checkrein.runtime.worktrees.git_calls import decoded
from checkrein.runtime.worktrees.removal import admin_dir
from checkrein.runtime.worktrees.worktree_names import branch_of

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.worktrees.git_calls import Git
    from checkrein.runtime.worktrees.repository import Repository

_UNDER_WAY = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG")
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=dirty")


class Condition(Struct, frozen=True):
    """`changes` are files with changes and untracked ones, `commits` those of its own. `unknown` says why git
    could not tell: then it counts as work that would be lost. `links` are those to directories of the main
    checkout, which are no work."""

    changes: int = 0
    commits: int = 0
    unknown: str = ""
    links: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        return not (self.changes or self.commits or self.unknown)

    @property
    def words(self) -> str:
        if self.unknown:
            return self.unknown
        parts = [_counted(self.changes, "changed file"), _counted(self.commits, "commit")]
        return " and ".join(part for part in parts if part) or "no changes"


def condition_of(repository: Repository, folder: str, base: str, git: Git, cancel: Cancel) -> Condition:
    """Files that git ignores do not count, as for git itself, and neither does what is merged into the main
    checkout. `base` "" is unknown: every commit counts that no remote has."""
    path = os.path.join(repository.place, folder)
    branch = f"refs/heads/{branch_of(folder)}"
    if not os.path.isdir(path):
        return Condition(commits=_commits(repository, repository.root, (branch,), base, git, cancel))
    own = admin_dir(repository, folder)
    if own is None or not is_tied(repository, path, own):
        return Condition(unknown="git does not know it")
    if os.path.isdir(os.path.join(own, "modules")):
        return Condition(unknown="it has submodules of its own")
    if any(os.path.lexists(os.path.join(own, name)) for name in _UNDER_WAY):
        return Condition(unknown="a merge, rebase or bisect is under way")
    status = git.call(path, cancel, *_STATUS)
    if status.exit_code or status.truncated:
        return Condition(unknown="git can't tell what changed")
    entries = _entries(decoded(status.stdout))
    links = tuple(one[3:] for one in entries if _is_link_of_ours(repository, path, one))
    commits = _commits(repository, path, ("HEAD", branch), base, git, cancel)
    return Condition(changes=len(entries) - len(links), commits=commits, links=links)


def is_tied(repository: Repository, path: str, own: str) -> bool:
    """Whether the worktree and its repository still name each other. What works in one could lead git to a
    repository of its own."""
    there = read_text(os.path.join(path, ".git"), limit=8192, within=()).text.removesuffix("\n")
    back = read_text(os.path.join(own, "commondir"), limit=8192, within=()).text.removesuffix("\n")
    return (
        not os.path.islink(path)
        and os.path.realpath(os.path.join(path, there.removeprefix("gitdir: "))) == os.path.realpath(own)
        and bool(back)
        and os.path.realpath(os.path.join(own, back)) == repository.git_dir
    )


def _commits(
    repository: Repository, cwd: str, names: tuple[str, ...], base: str, git: Git, cancel: Cancel
) -> int:
    """Those that neither a remote nor the main checkout has."""
    exist = [one for one in names if git.text(cwd, cancel, "rev-parse", "--verify", "--quiet", one)]
    if not exist:
        return 0
    main = git.text(repository.root, cancel, "rev-parse", "--verify", "--quiet", "HEAD")
    known = [one for one in (base, main) if one]
    counted = git.text(cwd, cancel, "rev-list", "--count", *exist, "--not", *known, "--remotes", "--")
    return int(counted) if counted is not None and counted.isdecimal() else 1


def _entries(text: str) -> list[str]:
    """The entries of `status -z`. The old name of a moved file follows its entry."""
    fields = iter(text.split("\0"))
    found = []
    for field in fields:
        if field:
            found.append(field)
            if "R" in field[:2] or "C" in field[:2]:
                next(fields, None)
    return found


def _is_link_of_ours(repository: Repository, path: str, entry: str) -> bool:
    """Whether an untracked file is a link to the same directory of the main checkout."""
    name = entry[3:]
    try:
        target = os.readlink(os.path.join(path, name))
    except OSError:
        return False
    return entry.startswith("??") and target == os.path.join(repository.root, name)


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number != 1 else ''}" if number else ""
