"""`merge_worktree`: its steps in order, what it says at each, and what it leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.work.merges import classify_fix, merge_worktree
from support.plain_hands import PlainHands
from support.repositories import git, make_repository

BASE = "dev"


@pytest.fixture
def ground(tmp_path: Path) -> Path:
    """A repository on `dev`, published, with a worktree `w` on the branch `work` and a commit there."""
    root = make_repository(tmp_path / "main", BASE)
    git(tmp_path, "init", "-q", "--bare", "origin.git")
    git(root, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(root, "push", "-q", "origin", BASE)
    git(root, "worktree", "add", "-q", "-b", "work", str(tmp_path / "w"))
    (tmp_path / "w" / "new.txt").write_text("new\n")
    git(tmp_path / "w", "add", "-A")
    git(tmp_path / "w", "commit", "-qm", "work")
    return root


def hands_of(root: Path, command: str = "true", **settings: object) -> PlainHands:
    return PlainHands(root, test_check__command=command, **settings)


def test_a_worktree_is_merged_and_removed(ground: Path) -> None:
    hands = hands_of(ground, "test -f new.txt && echo tested")
    done = merge_worktree(hands, "../w", BASE)
    assert done == {
        "success": True,
        "merge_succeeded": True,
        "merged_branch": "work",
        "into_branch": BASE,
        "worktree_removed": True,
        "branch_deleted": True,
        "cleanup_succeeded": True,
    }
    assert (ground / "new.txt").exists()
    assert not (ground.parent / "w").exists()
    assert sum("echo tested" in one for one in hands.ran) == 2, "before and after the rebase"


def test_a_tag_of_the_same_name_is_not_merged_instead(ground: Path) -> None:
    git(ground, "tag", "work", BASE)
    done = merge_worktree(hands_of(ground), "../w", BASE)
    assert (done["merged_branch"], done["cleanup_succeeded"]) == ("work", True)
    assert (ground / "new.txt").exists()


def _dirty(root: Path) -> None:
    (root.parent / "w" / "a.txt").write_text("changed\n")


def _detached(root: Path) -> None:
    git(root.parent / "w", "checkout", "-q", "--detach")


def _unpublished(root: Path) -> None:
    git(root.parent / "origin.git", "update-ref", "-d", f"refs/heads/{BASE}")
    git(root, "update-ref", "-d", f"refs/remotes/origin/{BASE}")


def _merge_commit(root: Path) -> None:
    w = root.parent / "w"
    git(w, "checkout", "-q", "-b", "side", "HEAD~1")
    (w / "side.txt").write_text("s\n")
    git(w, "add", "-A")
    git(w, "commit", "-qm", "side")
    git(w, "checkout", "-q", "work")
    git(w, "merge", "-q", "--no-edit", "--no-ff", "side")


def _conflict(root: Path) -> None:
    w = root.parent / "w"
    (w / "a.txt").write_text("theirs\n")
    git(w, "commit", "-qam", "theirs")
    (root / "a.txt").write_text("ours\n")
    git(root, "commit", "-qam", "ours")
    git(root, "push", "-q", "origin", BASE)


def _elsewhere(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")


def _no_remote(root: Path) -> None:
    git(root, "remote", "set-url", "origin", str(root.parent / "gone.git"))


def _diverged(root: Path) -> None:
    (root / "new.txt").write_text("in the way\n")


@pytest.mark.parametrize(
    ("step", "break_it", "state"),
    [
        ("dirty_tree", _dirty, "worktree_intact"),
        ("branch_detection", _detached, "worktree_intact"),
        ("fetch", _no_remote, "worktree_intact"),
        ("base_unpublished", _unpublished, "worktree_intact"),
        ("merge_commits", _merge_commit, "worktree_intact"),
        ("rebase", _conflict, "worktree_intact_rebase_aborted"),
        ("main_repo", _elsewhere, "worktree_intact_base_current"),
        ("merge", _diverged, "main_repo_merge_aborted"),
    ],
)
def test_a_step_that_fails_leaves_the_work(
    ground: Path, step: str, break_it: Callable[[Path], None], state: str
) -> None:
    break_it(ground)
    done = merge_worktree(hands_of(ground), "../w", BASE)
    assert done["failed_step"] == step, done
    assert done["state"] == state
    assert (ground.parent / "w" / "new.txt").exists()
    assert not (ground / ".git" / "rebase-merge").exists()
    assert not (ground / ".git" / "worktrees" / "w" / "rebase-merge").exists()
    assert not (ground / ".git" / "MERGE_HEAD").exists()


def test_what_is_refused_before_anything_happens(ground: Path) -> None:
    assert merge_worktree(hands_of(ground), "nowhere", BASE)["failed_step"] == "path_validation"
    assert merge_worktree(hands_of(ground), "../w", "main")["failed_step"] == "protected_branch"
    assert merge_worktree(hands_of(ground), ".", BASE)["failed_step"] == "not_a_worktree"
    own = hands_of(ground, safety__protected_branches=[BASE])
    assert merge_worktree(own, "../w", BASE)["failed_step"] == "protected_branch"
    assert own.ran == []


def test_the_tests_gate_before_and_after_the_rebase(ground: Path) -> None:
    failed = merge_worktree(hands_of(ground, "false"), "../w", BASE)
    assert failed["failed_step"] == "test_gate"
    (ground / "b.txt").write_text("b\n")
    git(ground, "add", "-A")
    git(ground, "commit", "-qm", "b")
    git(ground, "push", "-q", "origin", BASE)
    later = merge_worktree(hands_of(ground, "test ! -f b.txt"), "../w", BASE)
    assert later["failed_step"] == "post_rebase_test_gate"
    assert later["state"] == "worktree_intact_base_current"
    untested = hands_of(ground, "false", safety__test_gate_on_merge=False)
    assert merge_worktree(untested, "../w", BASE)["success"]


def test_a_fix_in_a_critical_path_needs_a_full_restart(ground: Path) -> None:
    hands = hands_of(ground, classify_fix__path_prefixes=["new"])
    found = classify_fix(hands, "../w", BASE)
    assert (found["restart_scope"], found["critical_files"]) == ("full_restart", ["new.txt"])
    assert classify_fix(hands_of(ground), "../w", BASE)["restart_scope"] == "partial_restart"
    with pytest.raises(ToolFailure):
        classify_fix(hands, "../w", f"--output={ground}/made")
