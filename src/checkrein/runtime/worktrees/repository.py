"""The repository that worktrees belong to, and the commit that a new one starts from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from checkrein.base.errors import FileError, NotFoundError
from checkrein.base.files import beneath
from checkrein.dialects.claude.place import main_checkout
from checkrein.facts.claude import CONFIG_DIR

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.worktrees.git_calls import Git

BaseRef = Literal["fresh", "head"]
"""`fresh` starts from the default branch, `head` from what the checkout has now."""
_EXCLUDED = f"/{CONFIG_DIR}/worktrees/"


class Repository(Struct, frozen=True):
    """`root` is the main checkout, `git_dir` what all its worktrees share. Both are real paths."""

    root: str
    git_dir: str

    @property
    def place(self) -> str:
        return os.path.join(self.root, CONFIG_DIR, "worktrees")

    @property
    def marks(self) -> str:
        """Where owners leave their marks: out of reach for what works in a worktree."""
        return os.path.join(self.git_dir, "checkrein", "worktrees")


def repository_of(cwd: str, git: Git, cancel: Cancel) -> Repository:
    """The repository around a directory. For a linked worktree, that of its main checkout. Raises
    NotFoundError or FileError that says why there can be no worktree."""
    found = git.call(cwd, cancel, "rev-parse", "--path-format=absolute", "--show-toplevel")
    if found.exit_code:
        raise _no_checkout(cwd, found.stderr)
    checkout = os.path.realpath(os.fsdecode(found.stdout).removesuffix("\n"))
    shared = git.must(cwd, cancel, "rev-parse", "--path-format=absolute", "--git-common-dir")
    own = git.must(cwd, cancel, "rev-parse", "--path-format=absolute", "--git-dir")
    git_dir, own = (os.path.realpath(path.removesuffix("\n")) for path in (shared, own))
    root = checkout if own == git_dir else os.path.realpath(main_checkout(checkout))
    if not beneath(os.path.realpath(cwd), checkout) or not _belongs(root, git_dir):
        raise FileError(
            f"The main checkout of {git_dir} is unknown.",
            kind="worktree_no_checkout",
            hint="Worktrees need a repository whose `.git` is in its main checkout.",
        )
    if git.text(root, cancel, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
        raise FileError(
            f"{root} has no commit to make a worktree from.",
            kind="worktree_no_commit",
            hint="Make a first commit.",
        )
    return Repository(root, git_dir)


def base_commit(repository: Repository, git: Git, cancel: Cancel, ref: BaseRef = "fresh") -> str:
    """The commit of the default branch: as the remote has it, else by its usual names; else HEAD. Nothing is
    fetched."""
    names = ["HEAD"]
    if ref == "fresh":
        own = git.text(repository.root, cancel, "config", "--get", "init.defaultBranch")
        usual = [f"refs/heads/{name}" for name in (own, "main", "master") if name]
        names = ["refs/remotes/origin/HEAD", *usual, "HEAD"]
    for name in names:
        wanted = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if found := git.text(repository.root, cancel, *wanted):
            return found
    raise FileError(f"{repository.root} has no commit to make a worktree from.", kind="worktree_no_commit")


def require_own_places(repository: Repository) -> None:
    """Raises FileError where a link leads out of the repository: nothing is written or removed through it."""
    names = ("checkrein", "checkrein/worktrees", "worktrees", "info", "info/exclude")
    git_places = (os.path.join(repository.git_dir, name) for name in names)
    for path in (os.path.dirname(repository.place), repository.place, *git_places):
        if os.path.islink(path):
            raise FileError(
                f"{path} is a symbolic link. Worktrees stay in their repository.",
                kind="worktree_place",
                hint="Replace the link by a directory.",
            )


def make_place(repository: Repository) -> None:
    """The directory of all worktrees. It is no change of the main checkout: `info/exclude` names it."""
    require_own_places(repository)
    path = os.path.join(repository.git_dir, "info", "exclude")
    os.makedirs(repository.place, exist_ok=True)
    os.makedirs(repository.marks, mode=0o700, exist_ok=True)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "r+b") as file:
        text = file.read()
        if _EXCLUDED.encode() not in text.splitlines():
            start = b"" if not text or text.endswith(b"\n") else b"\n"
            file.write(start + _EXCLUDED.encode() + b"\n")


def _belongs(root: str, git_dir: str) -> bool:
    """Whether the `.git` of a checkout is this directory. A repository's own configuration may name any
    directory as its checkout."""
    marker = os.path.join(root, ".git")
    if os.path.isdir(marker):
        return os.path.realpath(marker) == git_dir
    try:
        with open(marker, encoding="utf-8", errors="surrogateescape") as file:
            target = file.read(4096).removeprefix("gitdir:").strip("\n").strip(" ")
    except OSError:
        return False
    return os.path.realpath(os.path.join(root, target)) == git_dir


def _no_checkout(cwd: str, stderr: bytes) -> NotFoundError | FileError:
    if b"not a git repository" in stderr:
        return NotFoundError(
            f"{cwd} is not in a git repository.",
            kind="worktree_no_repository",
            hint="Run `git init` and commit, or let a WorktreeCreate hook make the directory.",
        )
    if b"bare repository" in stderr or b"must be run in a work tree" in stderr:
        return FileError(
            f"{cwd} is in a bare repository, which has no main checkout.",
            kind="worktree_no_checkout",
            hint="Work in a clone of it.",
        )
    return FileError(
        f"git can't use the repository at {cwd}: {os.fsdecode(stderr).strip()}", kind="worktree_git_failed"
    )
