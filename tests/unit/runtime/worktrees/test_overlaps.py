"""Work of several worktrees that meets, before anybody merges it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.worktrees.worktrees import Worktrees
from support.repositories import git

Edit = Callable[[Path], None]


def write(name: str, text: str) -> Edit:
    def edit(root: Path) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)

    return edit


def delete(name: str) -> Edit:
    return lambda root: (root / name).unlink()


def committed(*edits: Edit) -> Edit:
    def edit(root: Path) -> None:
        for one in edits:
            one(root)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "work")

    return edit


def nothing(root: Path) -> None:
    pass


def words(trees: Worktrees) -> list[str]:
    return [one.words for one in trees.compared(Cancel()).overlaps]


CASES = {
    "different files": (write("a.txt", "1\n"), write("sub/b.txt", "2\n"), nothing, []),
    "the same file": (
        write("a.txt", "1\n"),
        committed(write("a.txt", "2\n")),
        nothing,
        ["a.txt: changed by one and by two"],
    ),
    "the same content": (write("a.txt", "1\n"), committed(write("a.txt", "1\n")), nothing, []),
    "changed and deleted": (
        committed(write("a.txt", "1\n")),
        delete("a.txt"),
        nothing,
        ["a.txt: changed by one, deleted by two"],
    ),
    "both deleted": (delete("a.txt"), committed(delete("a.txt")), nothing, []),
    "both new": (write("new", "1"), write("new", "2"), nothing, ["new: changed by one and by two"]),
    "the main checkout, not committed": (
        committed(write("a.txt", "1\n")),
        nothing,
        write("a.txt", "3\n"),
        ["a.txt: changed by one and by the main checkout"],
    ),
    "the main checkout, committed": (
        write("a.txt", "1\n"),
        nothing,
        committed(delete("a.txt")),
        ["a.txt: changed by one, deleted by the main checkout"],
    ),
    "a new file that the main checkout has": (
        write("new", "1"),
        nothing,
        write("new", "2"),
        ["new: changed by one and by the main checkout"],
    ),
    "a file and a directory": (
        write("new", "1"),
        write("new/file", "2"),
        nothing,
        ["new: changed by one and by two"],
    ),
    "a name with a newline": (
        write("a\nb", "1"),
        write("a\nb", "2"),
        nothing,
        ["a\\nb: changed by one and by two"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_meets(case: str, checkout: Path, trees: Worktrees) -> None:
    first, second, main, expected = CASES[case]
    one = trees.create("one", "o", Cancel())
    two = trees.create("two", "t", Cancel())
    for edit, root in ((first, Path(one.path)), (second, Path(two.path)), (main, checkout)):
        edit(root)
    assert words(trees) == expected


def test_what_is_merged_counts_no_more_and_its_worktree_goes(checkout: Path, trees: Worktrees) -> None:
    one = trees.create("one", "o", Cancel())
    two = trees.create("two", "t", Cancel())
    committed(write("a.txt", "1\n"))(Path(one.path))
    committed(write("a.txt", "2\n"))(Path(two.path))
    git(checkout, "merge", "-q", "--no-ff", "-m", "m", one.branch)
    assert words(trees) == ["a.txt: changed by two and by the main checkout"]
    assert trees.finish(one, Cancel()) is None
    assert not os.path.exists(one.path)
    assert one.branch not in git(checkout, "branch", "--list")
    kept = trees.finish(two, Cancel())
    assert kept is not None
    assert kept.commits == 1


def test_the_text_for_the_one_who_merges(checkout: Path, trees: Worktrees) -> None:
    one = trees.create("one", "o", Cancel())
    two = trees.create("two", "t", Cancel())
    committed(write("a.txt", "1\n"))(Path(one.path))
    write("new", "1")(Path(one.path))
    write("a.txt", "2\n")(Path(two.path))
    found = trees.compared(Cancel(), lambda row: {"one": "ann", "two": "bob"}[row.name])
    assert found.of(one.path).splitlines() == [
        "It changed, on the branch worktree-one: a.txt, new.",
        "Not committed: new.",
        "Conflicts to expect. Look at both sides before you merge:",
        "- a.txt: changed by ann and by bob",
    ]
    assert found.of("/elsewhere") == ""


def test_two_that_are_called_the_same(checkout: Path, trees: Worktrees) -> None:
    one = trees.create("one", "o", Cancel())
    two = trees.create("two", "t", Cancel())
    write("a.txt", "1\n")(Path(one.path))
    write("sub/b.txt", "2\n")(Path(two.path))
    write("a.txt", "3\n")(checkout)
    found = trees.compared(Cancel(), lambda row: "ann")
    assert found.conflicts(one.path) == ("a.txt: changed by ann (one) and by the main checkout",)
    assert found.conflicts(two.path) == ()


def test_a_worktree_that_leads_elsewhere_is_not_looked_at(
    checkout: Path, trees: Worktrees, tmp_path: Path
) -> None:
    one = trees.create("one", "o", Cancel())
    (Path(one.path) / ".git").unlink()
    evil = tmp_path / "evil"
    evil.mkdir()
    git(evil, "init", "-q")
    git(evil, "config", "core.fsmonitor", f"touch {tmp_path}/ran")
    (Path(one.path) / ".git").write_text(f"gitdir: {evil}/.git\n")
    two = trees.create("two", "t", Cancel())
    write("a.txt", "1\n")(Path(two.path))
    assert "not known" in trees.compared(Cancel()).of(one.path)
    assert "Not compared with one (git does not know it)." in trees.compared(Cancel()).of(two.path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("inside")
def test_the_list_shows_them(checkout: Path, trees: Worktrees, ask: Any) -> None:
    for name, text in (("one", "1\n"), ("two", "2\n")):
        write("a.txt", text)(Path(trees.create(name, name, Cancel()).path))
    rows = ask("worktree", "list", "-C", str(checkout), status=0)["worktrees"]
    assert [row["conflicts"] for row in rows] == [["a.txt: changed by one and by two"]] * 2
