"""Worktrees with real git: made, kept or removed, one owner at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.base.errors import FileError, NotFoundError
from checkrein.llm.cancel import Cancel
from checkrein.runtime.worktrees.worktree import Row, Wishes
from checkrein.runtime.worktrees.worktrees import Worktrees
from support.repositories import git, make_repository

Open = Callable[..., Worktrees]


def rows(trees: Worktrees) -> dict[str, Row]:
    return {row.name: row for row in trees.list(Cancel())}


def test_a_new_worktree_is_a_clean_checkout_and_no_change_of_the_main_one(
    checkout: Path, trees: Worktrees
) -> None:
    made = trees.create("fix", "session", Cancel())
    assert made.path == str(checkout / ".claude/worktrees/fix")
    assert (made.name, made.branch, made.root) == ("fix", "worktree-fix", str(checkout))
    assert made.base == git(checkout, "rev-parse", "HEAD")
    assert git(made.path, "branch", "--show-current") == "worktree-fix"
    assert (Path(made.path) / "sub/b.txt").read_text() == "b\n"
    assert git(checkout, "status", "--porcelain", "--untracked-files=all") == ""
    assert not (checkout / ".gitignore").exists()
    assert "locked checkrein: session" in git(checkout, "worktree", "list", "--porcelain")


def test_a_clean_one_goes_with_its_branch(checkout: Path, trees: Worktrees) -> None:
    made = trees.create("fix", "session", Cancel())
    assert trees.finish(made, Cancel()) is None
    assert not os.path.exists(made.path)
    assert git(checkout, "branch", "--list", "worktree-*") == ""
    assert git(checkout, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert rows(trees) == {}


@pytest.mark.parametrize(
    ("work", "changes", "commits"),
    [
        (("sh", "-c", "echo more >> a.txt"), 1, 0),
        (("sh", "-c", "mkdir new; echo more > new/c.txt; touch d.txt"), 2, 0),
        (("git", "mv", "a.txt", "z.txt"), 1, 0),
        (("git", "commit", "-qm", "own", "--allow-empty"), 0, 1),
        (("sh", "-c", "git checkout -q --detach && git commit -qm own --allow-empty"), 0, 1),
        (("sh", "-c", "git checkout -q -b other && git commit -qm own --allow-empty"), 0, 1),
        (("sh", "-c", "git commit -qm own --allow-empty && git checkout -q --detach main"), 0, 1),
    ],
)
def test_work_is_kept_and_named(trees: Worktrees, work: tuple[str, ...], changes: int, commits: int) -> None:
    made = trees.create("fix", "session", Cancel())
    subprocess.run(work, cwd=made.path, check=True)
    kept = trees.finish(made, Cancel())
    assert kept is not None
    assert (kept.path, kept.branch, kept.changes, kept.commits) == (made.path, made.branch, changes, commits)
    row = rows(trees)["fix"]
    assert (row.state, row.changes, row.commits) == ("dirty", changes, commits)
    assert trees.clean(0, Cancel()).left == (("fix", kept.reason),)
    assert trees.clean(0, Cancel(), force=["fix"]).removed == ("fix",)
    assert rows(trees) == {}
    assert not os.path.exists(made.path)


def test_a_merge_under_way_is_kept(checkout: Path, trees: Worktrees) -> None:
    made = trees.create("fix", "session", Cancel())
    git(made.path, "commit", "-qm", "own", "--allow-empty")
    git(made.path, "checkout", "-q", "--detach", "main")
    git(made.path, "merge", "-q", "--no-ff", "--no-commit", "worktree-fix")
    kept = trees.finish(made, Cancel())
    assert kept is not None
    assert "under way" in kept.reason


def test_a_name_that_is_taken_gets_a_number(checkout: Path, trees: Worktrees) -> None:
    first = trees.create("fix", "a", Cancel())
    assert trees.create("fix", "b", Cancel()).name == "fix-2"
    git(checkout, "branch", "worktree-user")
    assert trees.create("user", "a", Cancel()).name == "user-2"
    assert set(rows(trees)) == {"fix", "fix-2", "user-2"}
    assert trees.finish(first, Cancel()) is None
    assert trees.create("fix/deep", "a", Cancel()).path.endswith("/.claude/worktrees/fix+deep")
    assert git(checkout, "branch", "--list", "worktree-user") != ""


def test_ten_at_once(checkout: Path, trees: Worktrees) -> None:
    made: list[str] = []
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            made.append(trees.create("same", f"owner {number}", Cancel()).path)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(set(made)) == 10
    assert all(git(path, "status", "--porcelain") == "" for path in made)


def test_a_lock_of_another_git_is_waited_for(checkout: Path, trees: Worktrees) -> None:
    held = checkout / ".git/refs/heads/worktree-fix.lock"
    held.touch()
    timer = threading.Timer(0.5, held.unlink)
    timer.start()
    assert trees.create("fix", "session", Cancel()).name == "fix"
    timer.join()


def test_one_owner_at_a_time(checkout: Path, trees: Worktrees, open_trees: Open) -> None:
    made = trees.create("fix", "session", Cancel())
    (Path(made.path) / "new").touch()
    other = open_trees(checkout)
    with pytest.raises(FileError, match=rf"in use by session in process {os.getpid()}"):
        other.enter(made.path, "second", Cancel())
    assert rows(other)["fix"].state == "in_use"
    assert other.clean(0, Cancel(), force=["fix"]).removed == ()
    assert trees.finish(made, Cancel()) is not None
    again = other.enter(made.path, "second", Cancel())
    assert again == made
    assert "locked checkrein: second" in git(checkout, "worktree", "list", "--porcelain")


KILLED = """
import os, signal, sys, time
from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.worktrees import checkout, worktrees
moment, root = sys.argv[1:]
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
if moment == "before":
    worktrees.check_out = die
if moment == "after":
    checkout.copy_included = die
with Spawner(lambda origin: True) as spawner:
    trees = worktrees.Worktrees(root, env=dict(os.environ), spawner=spawner, cancel=Cancel())
    trees.create("fix", "dead", Cancel())
    die()
"""


@pytest.mark.parametrize("moment", ["before", "after", "ready"])
def test_a_killed_owner(checkout: Path, trees: Worktrees, moment: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, moment, str(checkout)], check=False)
    assert done.returncode == -signal.SIGKILL
    row = rows(trees)["fix"]
    assert (row.state, row.owner) == ("clean" if moment == "ready" else "broken", "dead")
    if moment == "ready":
        assert trees.clean(1, Cancel()).left == (("fix", "used less than 1 days ago"),)
        back = trees.enter(row.path, "next", Cancel())
        assert trees.finish(back, Cancel()) is None
    elif moment == "after":
        with pytest.raises(FileError, match="never finished"):
            trees.enter(row.path, "next", Cancel())
    assert trees.clean(30, Cancel()).removed == (() if moment == "ready" else ("fix",))
    assert rows(trees) == {}
    assert git(checkout, "branch", "--list", "worktree-*") == ""
    assert os.listdir(checkout / ".claude/worktrees") == []


def test_a_cancelled_start_leaves_nothing(checkout: Path, trees: Worktrees) -> None:
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(FileError):
        trees.create("fix", "session", cancel)
    assert rows(trees) == {}
    assert git(checkout, "branch", "--list", "worktree-*") == ""


def test_where_there_can_be_none(tmp_path: Path, open_trees: Open) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(NotFoundError, match="not in a git repository"):
        open_trees(tmp_path / "plain")
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    with pytest.raises(FileError, match="no commit"):
        open_trees(tmp_path / "empty")
    source = make_repository(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), "bare")
    with pytest.raises(FileError, match="bare repository"):
        open_trees(tmp_path / "bare")
    git(tmp_path / "bare", "worktree", "add", "-q", str(tmp_path / "linked"))
    with pytest.raises(FileError, match="main checkout"):
        open_trees(tmp_path / "linked")


def test_a_linked_worktree_makes_them_in_the_main_checkout(
    checkout: Path, tmp_path: Path, open_trees: Open
) -> None:
    git(checkout, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "mine")
    (tmp_path / "linked/sub/deep").mkdir()
    made = open_trees(tmp_path / "linked/sub/deep").create("fix", "a", Cancel())
    assert made.path == str(checkout / ".claude/worktrees/fix")
    assert made.root == str(checkout)


def test_a_shallow_clone_and_its_default_branch(tmp_path: Path, open_trees: Open) -> None:
    source = make_repository(tmp_path / "source", "trunk")
    git(source, "commit", "-qm", "second", "--allow-empty")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{source}", "clone")
    clone = tmp_path / "clone"
    git(clone, "checkout", "-q", "-b", "feature")
    git(clone, "commit", "-qm", "own", "--allow-empty")
    trees = open_trees(clone)
    made = trees.create("fix", "a", Cancel())
    assert made.base == git(clone, "rev-parse", "origin/trunk")
    assert trees.finish(made, Cancel()) is None
    head = open_trees(clone, wishes=Wishes(base="head")).create("fix", "a", Cancel())
    assert head.base == git(clone, "rev-parse", "feature")


def test_what_upstream_has_is_not_its_own(tmp_path: Path, open_trees: Open) -> None:
    source = make_repository(tmp_path / "source")
    git(tmp_path, "clone", "-q", str(source), "clone")
    trees = open_trees(tmp_path / "clone")
    made = trees.create("fix", "a", Cancel())
    git(source, "commit", "-qm", "second", "--allow-empty")
    git(made.path, "pull", "-q", "--ff-only", "origin", "main")
    assert trees.finish(made, Cancel()) is None
    assert git(tmp_path / "clone", "branch", "--list", "worktree-*") == ""


@pytest.mark.parametrize("name", ["with space", "new\nline", "ünï", "-dash", "quo'te\"s"])
def test_paths_with_odd_characters(tmp_path: Path, open_trees: Open, name: str) -> None:
    trees = open_trees(make_repository(tmp_path / name))
    made = trees.create("fix", "a", Cancel())
    (Path(made.path) / "odd\nname").touch()
    kept = trees.finish(made, Cancel())
    assert kept is not None
    assert kept.changes == 1
    again = trees.enter(made.path, "b", Cancel())
    os.unlink(Path(made.path) / "odd\nname")
    assert trees.finish(again, Cancel()) is None
    assert rows(trees) == {}


def test_nothing_that_a_repository_names_runs(checkout: Path, tmp_path: Path, trees: Worktrees) -> None:
    ran = tmp_path / "ran"
    for key in ("filter.f.smudge", "filter.f.clean", "core.fsmonitor", "core.sshCommand"):
        git(checkout, "config", key, f"echo {key} >> {ran}; cat")
    (checkout / ".gitattributes").write_text("* filter=f\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "filtered")
    hook = checkout / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\necho hook >> {ran}\n")
    hook.chmod(0o755)
    ran.write_text("")
    made = trees.create("fix", "a", Cancel())
    trees.list(Cancel())
    assert trees.finish(made, Cancel()) is None
    assert ran.read_text() == ""


def test_submodules_stay_uninitialised(checkout: Path, tmp_path: Path, trees: Worktrees) -> None:
    source = make_repository(tmp_path / "part")
    git(checkout, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "part")
    git(checkout, "commit", "-qm", "part")
    made = trees.create("fix", "a", Cancel())
    assert os.listdir(Path(made.path) / "part") == []
    assert trees.finish(made, Cancel()) is None


def test_a_place_that_leads_elsewhere_is_refused(checkout: Path, tmp_path: Path, trees: Worktrees) -> None:
    (tmp_path / "elsewhere").mkdir()
    (checkout / ".claude").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="symbolic link"):
        trees.create("fix", "a", Cancel())
    assert os.listdir(tmp_path / "elsewhere") == []


CREATING = '{"owner": "x", "pid": 1, "state": "creating"}'


def test_marks_of_a_hostile_repository_remove_nothing(
    checkout: Path, tmp_path: Path, trees: Worktrees
) -> None:
    """An archive can bring any `.git`."""
    outside = tmp_path / "outside"
    (outside / "documents").mkdir(parents=True)
    marks = checkout / ".git/checkrein/worktrees"
    marks.mkdir(parents=True)
    for name in ("..", ".", "documents", "", "-x", "a..b"):
        (marks / f"{name}.json").write_text(CREATING)
    (checkout / ".claude").mkdir()
    (checkout / ".claude/keep").touch()
    for link in (".claude/worktrees", ".git/worktrees"):
        (checkout / link).symlink_to(outside)
        assert "symbolic link" in trees.clean(0, Cancel(), force=["documents"]).left[0][1]
        (checkout / link).unlink()
    assert trees.clean(0, Cancel()).removed == ("documents",)
    assert (outside / "documents").is_dir()
    assert (checkout / ".claude/keep").exists()
    subprocess.run(["rm", "-r", str(marks)], check=True)
    marks.symlink_to(outside)
    (outside / "fix.json").write_text("mine")
    with pytest.raises(FileError, match="symbolic link"):
        trees.create("fix", "a", Cancel())
    assert (outside / "fix.json").read_text() == "mine"


def test_a_checkout_that_only_the_configuration_names_is_refused(
    checkout: Path, tmp_path: Path, open_trees: Open
) -> None:
    (tmp_path / "home").mkdir()
    git(checkout, "config", "core.worktree", str(tmp_path / "home"))
    with pytest.raises(FileError, match="main checkout"):
        open_trees(checkout)


def test_only_worktrees_of_this_repository_can_be_entered(
    checkout: Path, tmp_path: Path, trees: Worktrees, open_trees: Open
) -> None:
    other = open_trees(make_repository(tmp_path / "other"))
    theirs = other.create("fix", "a", Cancel())
    other.close()
    mine = trees.create("mine", "a", Cancel())
    trees.close()
    (checkout / ".claude/worktrees/link").symlink_to(theirs.path)
    (checkout / ".claude/worktrees/plain").mkdir()
    wrong = (
        theirs.path,
        str(checkout),
        str(checkout / ".claude/worktrees/link"),
        f"{mine.path}/sub",
        "/",
        "",
    )
    for path in (*wrong, str(checkout / ".claude/worktrees/plain"), f"{mine.path}/.."):
        with pytest.raises(NotFoundError):
            trees.enter(path, "b", Cancel())


def test_a_lock_of_somebody_else_holds(checkout: Path, trees: Worktrees) -> None:
    path = checkout / ".claude/worktrees/theirs"
    git(checkout, "worktree", "add", "-q", "-b", "theirs", str(path))
    git(checkout, "worktree", "lock", "--reason", "usb stick", str(path))
    assert rows(trees)["theirs"].state == "locked"
    assert trees.clean(0, Cancel(), force=["theirs"]).removed == ()
    with pytest.raises(FileError, match="usb stick"):
        trees.enter(str(path), "a", Cancel())
    git(checkout, "worktree", "unlock", str(path))
    entered = trees.enter(str(path), "a", Cancel())
    assert entered.branch == "theirs"
    assert trees.finish(entered, Cancel()) is None
    assert git(checkout, "branch", "--list", "theirs") != ""


def test_a_directory_without_git_is_never_removed_unasked(checkout: Path, trees: Worktrees) -> None:
    path = checkout / ".claude/worktrees/notes"
    path.mkdir(parents=True)
    (path / "todo").touch()
    assert rows(trees)["notes"].state == "dirty"
    assert trees.clean(0, Cancel()).removed == ()
    assert trees.clean(0, Cancel(), force=["notes"]).removed == ("notes",)
    assert not path.exists()


def test_a_worktree_whose_directory_is_gone(checkout: Path, trees: Worktrees) -> None:
    made = trees.create("fix", "a", Cancel())
    subprocess.run(["rm", "-rf", made.path], check=True)
    assert trees.finish(made, Cancel()) is None
    assert rows(trees) == {}
    made = trees.create("fix", "a", Cancel())
    git(made.path, "commit", "-qm", "own", "--allow-empty")
    subprocess.run(["rm", "-rf", made.path], check=True)
    kept = trees.finish(made, Cancel())
    assert kept is not None
    assert kept.commits == 1
    assert git(checkout, "branch", "--list", "worktree-fix") != ""


def test_locked_directories_go_too(trees: Worktrees) -> None:
    made = trees.create("fix", "a", Cancel())
    (Path(made.path) / "new/deep").mkdir(parents=True)
    (Path(made.path) / "new/deep/file").touch()
    (Path(made.path) / "new/deep").chmod(0o500)
    trees.discard(made, Cancel())
    assert not os.path.exists(made.path)
