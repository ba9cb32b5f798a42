"""A run's own git repository: a branch for the run, one with a worktree for each branch of a `parallel`.

What a step did is committed and pushed when it ends, before its entry is recorded. So a machine that adopts
the run finds in the remote exactly what the journal says, and throws away what a dead step left behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from checkrein.base.errors import RunError
from checkrein.base.home import private_dir
from checkrein.base.origin import BUNDLED, Origin
from checkrein.base.secrets import redact_url
from checkrein.llm.cancel import Cancel
from checkrein.recipes.port import Task
from checkrein.runtime.process.git_fetch import GitFetch
from checkrein.runtime.process.spawner import Completed, Spawner

_PROTOCOLS = ("https", "ssh", "file")
_TIMEOUT = 600.0
_ADDRESS = re.compile(r"(?:https|ssh|file)://\S+|[\w.-]+@[\w.-]+:\S+|/\S+")
_WHO = ("-c", "user.name=Checkrein", "-c", "user.email=checkrein@localhost", "-c", "commit.gpgSign=false")
_LOCKS: dict[str, threading.Lock] = {}
_LOCKS_LOCK = threading.Lock()


class GitWorkspace:
    """For one run on this machine. Any thread may use it; git works on one worktree at a time."""

    def __init__(self, run: str, url: str, root: Path, confirm: Callable[[], None]) -> None:
        if _ADDRESS.fullmatch(url) is None:
            raise RunError(
                f"The workspace {redact_url(url)} is not the address of a git repository.",
                kind="workspace_invalid",
                hint="Write an https, ssh or file address.",
            )
        self._run = run
        self._url = url
        self._root = root
        self._confirm = confirm
        with _LOCKS_LOCK:
            self._lock = _LOCKS.setdefault(str(root), threading.Lock())

    @contextlib.contextmanager
    def visit(self, task: Task) -> Iterator[str]:
        """The worktree of the step's body, as the remote has it. Afterwards the remote has the step's work,
        whatever its outcome."""
        with self._lock, self._git() as git:
            tree = self._fresh(git, task.branch)
        yield str(tree)
        with self._lock, self._git() as git:
            self._keep(git, tree, task.branch, f"{task.path}\n\nCheckrein-Run: {self._run}")

    def artifacts(self, task: Task, cwd: str) -> str | None:
        return os.path.join(cwd, ".checkrein", "artifacts")

    def merge(self, run: str, branch: str, paths: Sequence[str]) -> str | None:
        with self._lock, self._git() as git:
            tree = self._fresh(git, branch)
            for path in paths:
                ref = f"refs/remotes/origin/{self._name(path)}"
                if git("rev-parse", "--verify", "--quiet", ref, cwd=tree).exit_code:
                    continue  # a branch whose steps never worked here
                done = git(*_WHO, "merge", "--no-edit", "--no-stat", ref, cwd=tree)
                if done.exit_code:
                    git("merge", "--abort", cwd=tree)
                    return f"{path} does not merge: {_said(done)}"
            self._push(git, tree, branch)
        return None

    def _fresh(self, git: _Git, branch: str) -> Path:
        """The worktree, at the commit of the remote. A branch that is new starts where its parent is."""
        repository = self._repository(git)
        name = self._name(branch)
        ref = f"refs/remotes/origin/{name}"
        if git("rev-parse", "--verify", "--quiet", ref, cwd=repository).exit_code:
            ref = self._start(git, repository, branch)
        tree = self._root / (self._slug(branch) or "run")
        if not self._is_ours(tree):
            shutil.rmtree(tree, ignore_errors=True)
            git("worktree", "prune", cwd=repository)
            self._must(git, "worktree", "add", "--force", "-B", name, str(tree), ref, cwd=repository)
        else:
            for command in (("checkout", "--force", "-B", name, ref), ("clean", "-fdq")):
                self._must(git, *command, cwd=tree)
        return tree

    def _is_ours(self, tree: Path) -> bool:
        """Whether git reads our repository there. A step can put another `.git` in its place, whose
        configuration names programs that git starts for us."""
        link = tree / ".git"
        if link.is_symlink() or not link.is_file():
            return False
        place = link.read_text(errors="replace").removeprefix("gitdir: ").rstrip("\n")
        known = (self._root / "repository" / ".git" / "worktrees").resolve()
        return os.path.normpath(os.path.join(tree.resolve(), place, os.pardir)) == str(known)

    def _start(self, git: _Git, repository: Path, branch: str) -> str:
        parent = branch.rpartition("/")[0] if branch else ""
        while branch:
            ref = f"refs/remotes/origin/{self._name(parent)}"
            if not git("rev-parse", "--verify", "--quiet", ref, cwd=repository).exit_code:
                return ref
            if not parent:
                break
            parent = parent.rpartition("/")[0]
        return "refs/remotes/origin/HEAD"

    def _repository(self, git: _Git) -> Path:
        repository = self._root / "repository"
        if not (repository / ".git").exists():
            private_dir(self._root)
            shutil.rmtree(repository, ignore_errors=True)
            part = self._root / "repository.part"
            shutil.rmtree(part, ignore_errors=True)
            self._must(git, "clone", "--quiet", "--no-checkout", "--", self._url, str(part), cwd=self._root)
            os.rename(part, repository)
        self._must(git, "fetch", "--quiet", "--prune", "origin", cwd=repository)
        return repository

    def _keep(self, git: _Git, tree: Path, branch: str, message: str) -> None:
        if not self._is_ours(tree):
            raise RunError(
                f"{branch or 'The step'} changed the `.git` of its worktree; its work is not kept.",
                kind="workspace_failed",
            )
        self._must(git, "add", "--all", cwd=tree)
        if git("diff", "--cached", "--quiet", cwd=tree).exit_code:
            self._must(git, *_WHO, "commit", "--quiet", "--no-verify", "-m", message, cwd=tree)
        self._push(git, tree, branch)

    def _push(self, git: _Git, tree: Path, branch: str) -> None:
        """Only the owner of the run comes so far: what another worker left in the branch meanwhile is of a
        step that was never recorded."""
        self._confirm()
        name = self._name(branch)
        self._must(git, "push", "--quiet", "--force", "origin", f"HEAD:refs/heads/{name}", cwd=tree)

    def _name(self, branch: str) -> str:
        slug = self._slug(branch)
        return f"checkrein/{self._run}" + (f"--{slug}" if slug else "")

    @staticmethod
    def _slug(branch: str) -> str:
        """A path as a name of files and branches: readable, and different for different paths."""
        if not branch:
            return ""
        plain = re.sub(r"[^A-Za-z0-9]+", "-", branch).strip("-")[:60]
        return f"{plain}-{hashlib.sha256(branch.encode()).hexdigest()[:8]}"

    @contextlib.contextmanager
    def _git(self) -> Iterator[_Git]:
        origin = Origin(BUNDLED, "bundled", None, "recipe workspace")
        with Spawner(lambda _: True) as spawner:
            fetch = GitFetch(os.environ, spawner, Cancel(), origin, protocols=_PROTOCOLS, timeout=_TIMEOUT)
            yield lambda *arguments, cwd: fetch.call(*arguments, cwd=str(cwd))

    def _must(self, git: _Git, *arguments: str, cwd: Path) -> None:
        done = git(*arguments, cwd=cwd)
        if done.exit_code:
            verb = next(one for one in arguments if not one.startswith("-") and "=" not in one)
            raise RunError(
                f"git {verb} failed in the workspace {redact_url(self._url)}: {_said(done)}",
                kind="workspace_failed",
            )


_Git = Callable[..., Completed]


def _said(done: Completed) -> str:
    text = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    return redact_url(text.splitlines()[-1]) if text else f"exit status {done.exit_code}"
