"""`.worktreeinclude`, links to directories and sparse checkouts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from checkrein.llm.cancel import Cancel
from checkrein.runtime.worktrees.worktree import Wishes
from checkrein.runtime.worktrees.worktrees import Worktrees
from support.files import lay
from support.repositories import git

Open = Callable[..., Worktrees]


def test_ignored_files_that_it_names_are_copied(checkout: Path, tmp_path: Path, trees: Worktrees) -> None:
    secret = tmp_path / "secret"
    secret.write_text("outside")
    lay(
        checkout,
        {
            ".gitignore": ".env*\nconfig/\nnode_modules/\nlinked\n",
            ".worktreeinclude": ".env\nconfig/**\n!config/not.txt\nlinked\nuntracked.txt\na.txt\n",
            ".env": "KEY=1",
            ".env.other": "no",
            "config/deep/x.txt": "x",
            "config/not.txt": "no",
            "node_modules/m.js": "no",
            "untracked.txt": "not ignored",
        },
    )
    (checkout / ".env").chmod(0o600)
    (checkout / "linked").symlink_to(secret)
    (checkout / "config/pointer").symlink_to(secret)
    git(checkout, "add", ".gitignore")
    git(checkout, "commit", "-qm", "ignore")
    made = Path(trees.create("fix", "a", Cancel()).path)
    found = {str(path.relative_to(made)) for path in made.rglob("*") if not path.is_dir()}
    assert found == {".git", ".gitignore", "a.txt", "sub/b.txt", ".env", "config/deep/x.txt"}
    assert (made / ".env").stat().st_mode & 0o777 == 0o600


def test_it_replaces_nothing_and_writes_through_no_link(
    checkout: Path, tmp_path: Path, trees: Worktrees
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (checkout / "conf").symlink_to(outside)
    git(checkout, "add", "conf")
    git(checkout, "commit", "-qm", "link")
    git(checkout, "rm", "-q", "--cached", "conf")
    (checkout / "conf").unlink()
    lay(checkout, {".gitignore": "conf\n", ".worktreeinclude": "conf\n", "conf/keys": "bad"})
    made = trees.create("fix", "a", Cancel())
    assert os.path.islink(f"{made.path}/conf")
    assert os.listdir(outside) == []


def test_a_list_that_is_a_link_is_not_read(checkout: Path, tmp_path: Path, trees: Worktrees) -> None:
    lay(checkout, {".gitignore": ".env\n", ".env": "KEY=1"})
    (tmp_path / "list").write_text(".env\n")
    (checkout / ".worktreeinclude").symlink_to(tmp_path / "list")
    assert not os.path.exists(f"{trees.create('fix', 'a', Cancel()).path}/.env")


def test_linked_directories_are_no_change(checkout: Path, tmp_path: Path, open_trees: Open) -> None:
    lay(checkout, {".gitignore": "node_modules/\n", "node_modules/m.js": "", "cache/x": ""})
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "ignore")
    (tmp_path / "far").mkdir()
    (checkout / "out").symlink_to(tmp_path / "far")
    links = ("node_modules", "cache/", "../far", "out", "missing", ".git", "sub", "", "/")
    trees = open_trees(checkout, wishes=Wishes(links=links))
    made = trees.create("fix", "a", Cancel())
    found = {entry.name for entry in os.scandir(made.path) if entry.is_symlink()}
    assert found == {"node_modules"}
    assert trees.finish(made, Cancel()) is None
    assert (checkout / "node_modules/m.js").exists()


def test_a_sparse_checkout(checkout: Path, open_trees: Open) -> None:
    lay(checkout, {"big/c.txt": ""})
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "big")
    trees = open_trees(checkout, wishes=Wishes(sparse=("sub",)))
    made = trees.create("fix", "a", Cancel())
    assert set(os.listdir(made.path)) == {".git", "a.txt", "sub"}
    assert git(checkout, "status", "--porcelain") == ""
    assert (checkout / "big/c.txt").exists()
    assert trees.finish(made, Cancel()) is None
