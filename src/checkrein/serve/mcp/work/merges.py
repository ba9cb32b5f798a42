"""Merging a worktree into its base branch, step by step, and what a change means for a restart."""

from __future__ import annotations

import os
from typing import Any

from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands, Ran
from checkrein.serve.mcp.work.commands import tested

INTACT = "worktree_intact"
ABORTED = "worktree_intact_rebase_aborted"
REBASED = "worktree_intact_base_current"
MERGE_ABORTED = "main_repo_merge_aborted"


class _StopError(Exception):
    """The merge ends at a step. `more` says what the caller needs to go on."""

    def __init__(self, step: str, error: str, state: str = INTACT, **more: Any) -> None:
        super().__init__(error)
        self.answer = {"error": error, "failed_step": step, "state": state, **more}


def merge_worktree(hands: Hands, worktree_path: str, base_branch: str, step_name: str = "") -> dict[str, Any]:
    try:
        return _Merge(hands, worktree_path, base_branch).run()
    except _StopError as stop:
        return {"success": False, **stop.answer, "worktree_path": worktree_path}


class _Merge:
    def __init__(self, hands: Hands, path: str, base: str) -> None:
        self.hands = hands
        self.path = path
        self.base = base

    def run(self) -> dict[str, Any]:
        try:
            self.path = self.hands.directory(self.path)
        except ToolFailure as error:
            raise _StopError("path_validation", error.message) from None
        if self.base in self.hands.setting("safety.protected_branches"):
            raise _StopError("protected_branch", f"{self.base} is protected (safety.protected_branches).")
        main = self._main_repository()
        branch = self._branch()
        self._clean()
        self._tests("test_gate", INTACT)
        self._fetched()
        self._rebased(branch)
        self._tests("post_rebase_test_gate", REBASED)
        self._merged(main, branch)
        return self._removed(main, branch)

    def _main_repository(self) -> str:
        ran = self._git("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
        found = ran.stdout.split("\n")
        if not ran.ok or len(found) < 2 or found[0] == found[1]:
            raise _StopError("not_a_worktree", f"{self.path} is not a worktree of a repository.")
        return os.path.dirname(found[1])

    def _branch(self) -> str:
        ran = self._git("symbolic-ref", "--quiet", "HEAD")
        if not ran.ok:
            raise _StopError("branch_detection", "The worktree has no branch, or a rebase is in progress.")
        branch = ran.stdout.strip().removeprefix("refs/heads/")
        if branch == self.base:
            raise _StopError("branch_detection", f"The worktree is on {self.base} itself.")
        return branch

    def _clean(self) -> None:
        ran = self._git("status", "--porcelain")
        if not ran.ok or ran.stdout.strip():
            files = [line[3:] for line in ran.stdout.splitlines()][:50]
            raise _StopError("dirty_tree", "The worktree has changes that are not committed.", files=files)

    def _tests(self, step: str, state: str) -> None:
        if not self.hands.setting("safety.test_gate_on_merge"):
            return
        passed, ran = tested(self.hands, self.path)
        if not passed:
            raise _StopError(step, "The tests fail.", state, output=ran.last_words)

    def _fetched(self) -> None:
        ran = self._git("fetch", "--quiet", "origin")
        if not ran.ok:
            raise _StopError("fetch", ran.last_words)
        if not self._git("rev-parse", "--verify", "--quiet", f"refs/remotes/origin/{self.base}").ok:
            raise _StopError("base_unpublished", f"origin has no branch {self.base}. Push it first.")

    def _rebased(self, branch: str) -> None:
        merges = self._git("rev-list", "--merges", f"refs/remotes/origin/{self.base}..refs/heads/{branch}")
        if merges.stdout.strip():
            raise _StopError("merge_commits", f"{branch} has merge commits; a rebase would lose them.")
        ran = self._git("rebase", "--autostash", f"refs/remotes/origin/{self.base}")
        if not ran.ok:
            self._git("rebase", "--abort")
            raise _StopError("rebase", ran.last_words, ABORTED)

    def _merged(self, main: str, branch: str) -> None:
        on = self._git("symbolic-ref", "--quiet", "--short", "HEAD", cwd=main).stdout.strip()
        if on != self.base:
            raise _StopError("main_repo", f"{main} is on {on or 'no branch'}, not on {self.base}.", REBASED)
        ran = self._git("merge", "--no-edit", f"refs/heads/{branch}", cwd=main)
        if not ran.ok:
            self._git("merge", "--abort", cwd=main)
            raise _StopError("merge", ran.last_words, MERGE_ABORTED)

    def _removed(self, main: str, branch: str) -> dict[str, Any]:
        removed = self._git("worktree", "remove", self.path, cwd=main).ok
        deleted = removed and self._git("branch", "-d", "--", branch, cwd=main).ok
        return {
            "success": True,
            "merge_succeeded": True,
            "merged_branch": branch,
            "into_branch": self.base,
            "worktree_removed": removed,
            "branch_deleted": deleted,
            "cleanup_succeeded": removed and deleted,
        }

    def _git(self, *argv: str, cwd: str = "") -> Ran:
        return self.hands.git(*argv, cwd=cwd or self.path)


def classify_fix(hands: Hands, worktree_path: str, base_branch: str) -> dict[str, Any]:
    if base_branch.startswith("-"):
        raise ToolFailure(f"{base_branch!r} is not a branch.")
    where = hands.repository(worktree_path)
    ran = hands.git("diff", "--name-only", f"{base_branch}...HEAD", "--", cwd=where)
    if not ran.ok:
        raise ToolFailure(f"git: {ran.last_words}")
    changed = ran.stdout.splitlines()
    prefixes = tuple(str(one) for one in hands.setting("classify_fix.path_prefixes"))
    critical = [path for path in changed if prefixes and path.startswith(prefixes)]
    return {
        "success": True,
        "restart_scope": "full_restart" if critical else "partial_restart",
        "reason": f"{len(critical)} of {len(changed)} changed files are critical",
        "critical_files": critical,
        "all_changed_files": changed,
    }
