"""Reading that does not follow a link out of a project."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from checkrein.base import files
from checkrein.base.files import LEAVES, read_bytes, read_text


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "sub").mkdir(parents=True)
    (root / "own").write_text("own")
    (tmp_path / "key").write_text("KEY")
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "own").write_text("KEY")
    return root


def test_links_inside_are_followed(linked: Path) -> None:
    (linked / "sub" / "up").symlink_to("../own")
    (linked / "there").symlink_to("sub")
    assert read_text(linked / "sub" / "up", within=(str(linked),)).text == "own"
    assert read_text(linked / "there" / "up", within=(str(linked),)).text == "own"
    assert read_text(linked / "sub" / "up", within=()).problem == LEAVES


@pytest.mark.parametrize("target", ["../key", "../project/../key", "/proc/self/root/@/key"])
def test_links_that_leave_are_not(linked: Path, target: str) -> None:
    (linked / "link").symlink_to(target.replace("@", str(linked.parent).lstrip("/")))
    found = read_text(linked / "link", within=(str(linked),))
    assert (found.text, found.problem, found.readable) == ("", LEAVES, False)
    assert read_bytes(linked / "link", within=(str(linked),)).data == b""
    assert read_text(linked / "link").text == "KEY"


def test_a_directory_on_the_way_counts(linked: Path) -> None:
    (linked / "folder").symlink_to("../keys")
    assert read_text(linked / "folder" / "own", within=(str(linked),)).problem == LEAVES


def test_a_directory_with_a_similar_name_is_outside(linked: Path) -> None:
    near = linked.with_name("project-2")
    near.mkdir()
    (near / "x").write_text("KEY")
    (linked / "link").symlink_to("../project-2/x")
    assert read_text(linked / "link", within=(str(linked),)).problem == LEAVES


def test_without_proc_the_opened_file_still_counts(linked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (linked / "link").symlink_to("../key")
    (linked / "in").symlink_to("own")

    def no_proc(path: str) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(files.os, "readlink", no_proc)
    monkeypatch.setattr(files.os.path, "realpath", lambda path: str(linked / "own"))
    assert read_text(linked / "link", within=(str(linked),)).problem == LEAVES
    assert read_text(linked / "in", within=(str(linked),)).text == "own"


def test_a_link_that_changes_all_the_time_never_leads_out(linked: Path) -> None:
    link, done = linked / "link", threading.Event()

    def flip() -> None:
        while not done.is_set():
            for target in ("own", "../key"):
                os.symlink(target, linked / "next")
                os.replace(linked / "next", link)

    os.symlink("own", link)
    flipping = threading.Thread(target=flip)
    flipping.start()
    try:
        seen = {read_text(link, within=(str(linked),)).text for _ in range(3_000)}
    finally:
        done.set()
        flipping.join()
    assert seen == {"own", ""}
