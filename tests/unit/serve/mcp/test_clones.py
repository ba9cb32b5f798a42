"""Clones, branches and pushes, in real repositories."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.shift import Shift
from checkrein.serve.mcp.work.clones import (
    batch_cleanup_clones,
    clone_repo,
    register_clone_status,
    remove_clone,
)
from checkrein.serve.mcp.work.merges import classify_fix
from checkrein.serve.mcp.work.pulls import create_unique_branch, push_to_remote
from support.plain_hands import PlainHands
from support.repositories import git, make_repository


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "main", "dev")
    git(tmp_path, "init", "-q", "--bare", "origin.git")
    git(root, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(root, "push", "-q", "origin", "dev")
    return root


def test_a_clone_comes_from_the_remote(source: Path) -> None:
    hands = PlainHands(source, worktree_setup__command="touch prepared")
    done = clone_repo(hands, ".", "run")
    clone = Path(done["clone_path"])
    assert clone.parent == source.parent / "checkrein-runs"
    assert done["clone_source_type"] == "remote"
    assert (clone / "prepared").exists()
    assert git(clone, "remote", "get-url", "origin") == f"file://{clone}"
    assert git(clone, "remote", "get-url", "upstream") == str(source.parent / "origin.git")


def test_what_a_clone_would_miss_is_said(source: Path) -> None:
    hands = PlainHands(source)
    (source / "a.txt").write_text("changed\n")
    assert clone_repo(hands, ".", "run")["uncommitted_changes"] == [" M a.txt"]
    assert clone_repo(hands, ".", "run", strategy="proceed")["success"]
    git(source, "checkout", "-q", "a.txt")
    git(source, "checkout", "-q", "-b", "mine")
    assert clone_repo(hands, ".", "run")["unpublished_branch"] == "mine"
    assert clone_repo(hands, ".", "run", strategy="clone_local")["clone_source_type"] == "local"
    for name in ("../out", "-x", "a b", ""):
        with pytest.raises(ToolFailure):
            clone_repo(hands, ".", name)
    git(source, "checkout", "-q", "dev")
    clone_repo(hands, ".", "run", remote_url=f"--upload-pack=touch {source}/made;")
    assert not (source / "made").exists()


def test_only_registered_successes_of_the_owner_are_removed(source: Path) -> None:
    shift = Shift()
    hands, other = PlainHands(source, shift), PlainHands(source)
    paths = [Path(clone_repo(hands, ".", name)["clone_path"]) for name in ("a", "b", "c", "d")]
    register_clone_status(hands, str(paths[0]), "error")
    register_clone_status(hands, str(paths[0]), "success")
    register_clone_status(hands, str(paths[1]), "error")
    register_clone_status(other, str(paths[2]), "success")
    register_clone_status(hands, str(source), "success")
    done = batch_cleanup_clones(hands)
    assert done["deleted"] == [str(paths[0])]
    assert [one["path"] for one in done["delete_failures"]] == [str(source)]
    assert [path.exists() for path in paths] == [False, True, True, True]
    assert source.exists()
    assert batch_cleanup_clones(hands, all_owners="true")["deleted"] == [str(paths[2])]


def test_one_clone_is_never_removed_by_itself(source: Path) -> None:
    """remove_clone_guard."""
    hands = PlainHands(source)
    assert remove_clone(hands, "x")["removed"] is False
    assert remove_clone(hands, "x")["success"] is False
    assert remove_clone(hands, "x", keep="true") == {
        "success": True,
        "removed": False,
        "reason": "kept",
        "clone_path": "x",
    }
    assert hands.ran == []


def test_a_protected_branch_is_not_pushed(source: Path) -> None:
    """branch_protection_guard."""
    hands = PlainHands(source)
    assert push_to_remote(hands, ".", "main")["error_type"] == "protected_branch"
    assert hands.ran == []
    for name in ("--delete", "dev:main", "-f"):
        with pytest.raises(ToolFailure):
            push_to_remote(hands, ".", name)


def test_a_push_and_what_it_says_when_it_fails(source: Path) -> None:
    hands = PlainHands(source)
    git(source, "checkout", "-q", "-b", "work")
    assert push_to_remote(hands, ".", "work")["success"]
    git(source, "commit", "-q", "--amend", "-m", "other")
    assert push_to_remote(hands, ".", "work")["error_type"] == "rejected"
    git(source, "fetch", "-q")
    assert push_to_remote(hands, ".", "work", force=True)["success"]
    assert push_to_remote(hands, ".", "work", remote_url="/no/where")["success"] is False


def test_a_branch_name_is_free_here_and_there(source: Path) -> None:
    hands = PlainHands(source)
    git(source, "push", "-q", "origin", "dev:fix-it-7")
    made = create_unique_branch(hands, "Fix it!", 7, base_branch_name="dev")
    assert made == {"success": True, "branch_name": "fix-it-7-2", "was_unique": False, "base_ref": "dev"}
    assert git(source, "symbolic-ref", "--short", "HEAD") == "fix-it-7-2"
    own = PlainHands(source, branching__default_base_branch="dev")
    assert create_unique_branch(own, "new")["base_ref"] == "dev"
    with pytest.raises(ToolFailure):
        create_unique_branch(hands, "../..", base_branch_name="--orphan")


def test_a_remote_that_does_not_answer_makes_no_name_unique(source: Path) -> None:
    git(source, "remote", "set-url", "origin", "/no/where")
    with pytest.raises(ToolFailure, match="does not say"):
        create_unique_branch(PlainHands(source), "new", base_branch_name="dev")
    git(source, "remote", "remove", "origin")
    assert create_unique_branch(PlainHands(source), "new", base_branch_name="dev")["was_unique"]


@pytest.mark.parametrize("branch", ["*", "HEAD", "@", "+dev", "refs/heads/dev", "heads/dev", "v1", ""])
def test_a_push_takes_one_branch_by_its_name(source: Path, branch: str) -> None:
    git(source, "tag", "v1")
    git(source, "branch", "private")
    before = git(source, "ls-remote", "origin")
    with suppress(ToolFailure):
        assert push_to_remote(PlainHands(source), ".", branch)["success"] is False
    assert git(source, "ls-remote", "origin") == before


def test_a_directory_without_a_repository_is_named(tmp_path: Path) -> None:
    hands = PlainHands(tmp_path)
    for work in (
        lambda: clone_repo(hands, ".", "run"),
        lambda: push_to_remote(hands, ".", "work"),
        lambda: classify_fix(hands, ".", "main"),
    ):
        with pytest.raises(ToolFailure, match="not in a git repository"):
            work()
