"""Opening files: what is opened is what was approved, and nothing is opened through a link."""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.tools import files
from checkrein.runtime.tools.port import ToolFailure

Desk = Any


def test_what_was_not_approved_is_not_opened(desk: Desk) -> None:
    desk.file("a.txt", "a")
    assert "was not approved" in desk.failure("Read", {"file_path": "a.txt"})
    assert "was not approved" in desk.failure("Read", {"file_path": "a.txt"}, ("b.txt",))
    assert "was not approved" in desk.failure("Write", {"file_path": "b.txt", "content": ""}, ("a.txt",))
    assert "was not approved" in desk.failure("Glob", {"pattern": "*"})
    assert "was not approved" in desk.failure("Grep", {"pattern": "x", "path": "/etc"}, (".",))


def test_a_link_leads_to_what_it_leads_to(desk: Desk, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (desk.root / "link").symlink_to(secret)
    assert "was not approved" in desk.failure("Read", {"file_path": "link"}, (desk.root / "other",))
    assert str(secret) in desk.failure("Read", {"file_path": "link"})
    assert desk.read("link").content == "1\tsecret"


def test_dots_after_a_link_mean_what_the_kernel_means(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "far" / "x").write_text("far")
    desk.file("x", "near")
    (desk.root / "link").symlink_to(tmp_path / "far" / "deep")
    assert "was not approved" in desk.failure("Read", {"file_path": "link/../x"}, ("x",))


def test_a_file_swapped_for_a_link_is_refused(tmp_path: Path) -> None:
    real = os.path.realpath(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    approved = os.path.join(real, "a.txt")
    Path(approved).symlink_to(secret)
    with pytest.raises(ToolFailure, match="not the approved file"):
        files.read(approved, 100)
    with pytest.raises(ToolFailure, match="not the approved file"):
        files.replace(approved, b"new")
    assert secret.read_text() == "secret"


def test_a_directory_swapped_for_a_link_is_refused(tmp_path: Path) -> None:
    real = os.path.realpath(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("secret")
    (tmp_path / "dir").symlink_to(outside)
    approved = os.path.join(real, "dir", "a.txt")
    with pytest.raises(ToolFailure, match="not the approved file"):
        files.read(approved, 100)
    with pytest.raises(ToolFailure, match="not the approved file"):
        files.replace(approved, b"new")
    with pytest.raises(ToolFailure, match="not the approved file"):
        files.replace(os.path.join(real, "dir", "new", "b.txt"), b"new")
    assert (outside / "a.txt").read_text() == "secret"
    assert sorted(os.listdir(outside)) == ["a.txt"]


def test_a_race_never_writes_outside(tmp_path: Path) -> None:
    """A directory that is swapped for a link again and again, while it is written to."""
    real = Path(os.path.realpath(tmp_path))
    inside, outside, link = real / "dir", real / "outside", real / "link"
    for directory in (inside, outside):
        directory.mkdir()
    (outside / "a.txt").write_text("secret")
    link.symlink_to(outside)
    stop = threading.Event()
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    if exchange is None:
        pytest.skip("this system can't swap two names at once")

    def swap() -> None:
        while not stop.is_set():
            assert exchange(-100, os.fsencode(inside), -100, os.fsencode(link), 2) == 0

    thread = threading.Thread(target=swap)
    thread.start()
    written = refused = 0
    try:
        for _ in range(200):
            try:
                files.replace(str(inside / "a.txt"), b"mine")
                written += 1
            except ToolFailure:
                refused += 1
    finally:
        stop.set()
        thread.join()
    assert written + refused == 200
    assert (outside / "a.txt").read_text() == "secret"
    assert [name for name in os.listdir(outside) if name != "a.txt"] == []


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    path = Path(os.path.realpath(tmp_path)) / "script"
    path.write_text("old")
    path.chmod(0o750)
    files.replace(str(path), b"new")
    assert path.stat().st_mode & 0o777 == 0o750
    assert os.listdir(tmp_path) == ["script"]


def test_a_new_file_obeys_the_mask(tmp_path: Path) -> None:
    path = Path(os.path.realpath(tmp_path)) / "a" / "b" / "new"
    before = os.umask(0o027)
    try:
        files.replace(str(path), b"new")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_change_in_the_meantime_is_not_overwritten(tmp_path: Path) -> None:
    path = Path(os.path.realpath(tmp_path)) / "a"
    path.write_text("theirs")
    with pytest.raises(ToolFailure, match="has just changed"):
        files.replace(str(path), b"mine", expected=b"before")
    assert path.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("kind", ["fifo", "directory", "device"])
def test_only_regular_files_are_read_and_written(tmp_path: Path, kind: str) -> None:
    path = os.path.join(os.path.realpath(tmp_path), "x")
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        os.mkdir(path)
    else:
        path = "/dev/zero"
    with pytest.raises(ToolFailure):
        files.read(path, 100)
    if kind != "device":
        with pytest.raises(ToolFailure):
            files.replace(path, b"x")


def test_home_and_odd_paths(desk: Desk) -> None:
    desk.file("a.txt", "a")
    assert desk.run("Read", {"file_path": "~/a.txt"}, ("a.txt",)).content == "1\ta"
    assert "NUL" in desk.failure("Read", {"file_path": "a\0b"})
    assert "empty" in desk.failure("Read", {"file_path": " "})
    assert "does not exist" in desk.failure("Read", {"file_path": "none"}, ("none",))
