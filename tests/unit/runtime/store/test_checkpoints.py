"""Keeping files before they change, and putting them back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checkrein.runtime.store.checkpoints import KEPT, Checkpoints


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return tmp_path / "history"


def put(checkpoints: Checkpoints, path: Path, text: str) -> None:
    checkpoints.before_change(str(path))
    path.write_text(text)


def test_files_go_back_to_before_a_prompt(history: Path, tmp_path: Path) -> None:
    a, b, new = tmp_path / "a", tmp_path / "b", tmp_path / "new"
    a.write_text("a0")
    a.chmod(0o755)
    b.write_text("b0")
    points = Checkpoints(history)
    for number in (1, 2, 3):
        points.begin(f"m{number}")
        put(points, a, f"a{number}")
        put(points, a, f"a{number}!")
        if number == 2:
            put(points, b, "b2")
            put(points, new, "new")
    done = points.rewind("m2")
    assert (a.read_text(), b.read_text(), new.exists()) == ("a1!", "b0", False)
    assert a.stat().st_mode & 0o777 == 0o755
    assert set(done.restored) == {str(a), str(b)}
    assert done.deleted == (str(new),)
    assert points.messages == ("m1",)
    points.rewind("m1")
    assert a.read_text() == "a0"
    assert os.listdir(history) == ["index.jsonl"]


def test_a_later_process_knows_them(history: Path, tmp_path: Path) -> None:
    a = tmp_path / "a"
    a.write_text("a0")
    first = Checkpoints(history)
    first.begin("m1")
    put(first, a, "a1")
    (history / "index.jsonl").open("a").write('{"torn')
    later = Checkpoints(history, ["m1"])
    later.begin("m2")
    put(later, a, "a2")
    later.rewind("m1")
    assert a.read_text() == "a0"


def test_links_are_neither_kept_nor_written_through(history: Path, tmp_path: Path) -> None:
    target, link, one, two = (tmp_path / name for name in ("target", "link", "one", "two"))
    target.write_text("t")
    link.symlink_to(target)
    one.write_text("o")
    two.hardlink_to(one)
    points = Checkpoints(history)
    points.begin("m1")
    points.before_change(str(link))
    put(points, one, "changed")
    swapped = tmp_path / "swapped"
    swapped.write_text("s0")
    put(points, swapped, "s1")
    swapped.unlink()
    swapped.symlink_to(target)
    done = points.rewind("m1")
    assert (target.read_text(), one.read_text()) == ("t", "changed")
    assert done.skipped == (str(swapped),)
    assert done.restored == ()


def test_a_file_that_is_gone_comes_back(history: Path, tmp_path: Path) -> None:
    a = tmp_path / "d" / "a"
    a.parent.mkdir()
    a.write_text("a0")
    points = Checkpoints(history)
    points.begin("m1")
    put(points, a, "a1")
    a.unlink()
    a.parent.rmdir()
    points.rewind("m1")
    assert a.read_text() == "a0"


def test_the_newest_hundred_prompts_are_kept(history: Path, tmp_path: Path) -> None:
    a = tmp_path / "a"
    a.write_text("start")
    points = Checkpoints(history)
    for number in range(KEPT + 20):
        points.begin(f"m{number}")
        put(points, a, f"after {number}")
    assert points.messages[0] == "m20"
    assert len(points.messages) == KEPT
    assert len(os.listdir(history)) == KEPT + 1
    with pytest.raises(ValueError, match="not in list"):
        points.rewind("m0")
    points.rewind("m20")
    assert a.read_text() == "after 19"


def test_without_a_directory_nothing_is_kept(tmp_path: Path) -> None:
    a = tmp_path / "a"
    a.write_text("a0")
    points = Checkpoints(None)
    points.begin("m1")
    put(points, a, "a1")
    assert points.rewind("m1").restored == ()
    assert a.read_text() == "a1"


def test_what_can_not_be_kept_does_not_hinder(history: Path, tmp_path: Path) -> None:
    history.write_text("a file stands where the directory would be")
    a = tmp_path / "a"
    a.write_text("a0")
    points = Checkpoints(history)
    points.begin("m1")
    put(points, a, "a1")
    assert a.read_text() == "a1"


def test_one_can_go_back_to_the_same_prompt_again(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("before")
    kept = Checkpoints(tmp_path / "kept")
    kept.begin("one")
    for text in ("first", "second"):
        kept.before_change(str(file))
        file.write_text(text)
        foreseen = kept.rewind("one", dry_run=True)
        assert file.read_text() == text
        assert kept.rewind("one", again=True) == foreseen
        assert file.read_text() == "before"
        kept.begin(text)
    assert kept.messages == ("one", "second")
