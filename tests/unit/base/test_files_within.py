"""Reading that does not follow a link out of a project."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from checkrein.base import files
from checkrein.base.files import LEAVES, read_bytes, read_text


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "sub").mkdir(parents=True)
    (root / "own").write_text("own")
    (tmp_path / "key").write_text("KEY")
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "own").write_text("KEY")
    return root


def test_links_inside_are_followed(project: Path) -> None:
    (project / "sub" / "up").symlink_to("../own")
    (project / "there").symlink_to("sub")
    assert read_text(project / "sub" / "up", within=(str(project),)).text == "own"
    assert read_text(project / "there" / "up", within=(str(project),)).text == "own"
    assert read_text(project / "sub" / "up", within=()).problem == LEAVES


@pytest.mark.parametrize("target", ["../key", "../project/../key", "/proc/self/root/@/key"])
def test_links_that_leave_are_not(project: Path, target: str) -> None:
    (project / "link").symlink_to(target.replace("@", str(project.parent).lstrip("/")))
    found = read_text(project / "link", within=(str(project),))
    assert (found.text, found.problem, found.readable) == ("", LEAVES, False)
    assert read_bytes(project / "link", within=(str(project),)).data == b""
    assert read_text(project / "link").text == "KEY"


def test_a_directory_on_the_way_counts(project: Path) -> None:
    (project / "folder").symlink_to("../keys")
    assert read_text(project / "folder" / "own", within=(str(project),)).problem == LEAVES


def test_a_directory_with_a_similar_name_is_outside(project: Path) -> None:
    near = project.with_name("project-2")
    near.mkdir()
    (near / "x").write_text("KEY")
    (project / "link").symlink_to("../project-2/x")
    assert read_text(project / "link", within=(str(project),)).problem == LEAVES


def test_without_proc_the_opened_file_still_counts(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "link").symlink_to("../key")
    (project / "in").symlink_to("own")

    def no_proc(path: str) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(files.os, "readlink", no_proc)
    monkeypatch.setattr(files.os.path, "realpath", lambda path: str(project / "own"))
    assert read_text(project / "link", within=(str(project),)).problem == LEAVES
    assert read_text(project / "in", within=(str(project),)).text == "own"


def test_a_link_that_changes_all_the_time_never_leads_out(project: Path) -> None:
    link, done = project / "link", threading.Event()

    def flip() -> None:
        while not done.is_set():
            for target in ("own", "../key"):
                os.symlink(target, project / "next")
                os.replace(project / "next", link)

    os.symlink("own", link)
    flipping = threading.Thread(target=flip)
    flipping.start()
    try:
        seen = {read_text(link, within=(str(project),)).text for _ in range(3_000)}
    finally:
        done.set()
        flipping.join()
    assert seen == {"own", ""}
