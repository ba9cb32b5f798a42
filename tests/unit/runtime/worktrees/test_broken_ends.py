"""A removal that was killed half-way: what is left of it goes, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.worktrees.worktrees import Worktrees
from support.repositories import git


def half_removed(trees: Worktrees, *, state: str = "removing") -> Path:
    """Git had deleted the file `.git` of the worktree when its process was killed."""
    made = trees.create("fix", "me", Cancel())
    trees.close()
    mark = Path(trees.mark_path("fix"))
    mark.write_text(json.dumps({**json.loads(mark.read_text()), "state": state}))
    path = Path(made.path)
    (path / ".git").unlink()
    return path


def test_who_comes_back_finishes_it(trees: Worktrees, checkout: Path) -> None:
    path = half_removed(trees)
    assert trees.end_removal(str(path), Cancel())
    assert not path.exists()
    assert git(checkout, "branch", "--list", "worktree-fix") == ""
    assert git(checkout, "worktree", "list").count("\n") == 0


def test_clean_finishes_it(trees: Worktrees) -> None:
    path = half_removed(trees)
    (row,) = trees.list(Cancel())
    assert (row.state, row.reason) == ("broken", "its removal was never finished")
    assert trees.clean(30, Cancel()).removed == ("fix",)
    assert not path.exists()


@pytest.mark.parametrize("state", ["ready", "removing"])
def test_what_was_not_being_removed_stays(trees: Worktrees, state: str) -> None:
    """Without the mark of a removal, or with `.git` still there, it may hold work."""
    path = half_removed(trees, state=state)
    if state == "removing":
        (path / ".git").write_text("gitdir: elsewhere\n")
    assert not trees.end_removal(str(path), Cancel())
    assert (path / "a.txt").exists()


def test_a_removal_that_git_refuses_leaves_a_usable_worktree(trees: Worktrees) -> None:
    made = trees.create("fix", "me", Cancel())
    found = trees.condition(made, Cancel())
    assert found.clean
    Path(made.path, "new").write_text("work")
    with pytest.raises(Exception, match="fix"):
        trees._remove(made, None, Cancel(), found)
    assert json.loads(Path(trees.mark_path("fix")).read_text()).get("state", "ready") == "ready"
    assert Path(made.path, "new").exists()
