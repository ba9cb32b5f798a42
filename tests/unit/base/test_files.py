from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from checkrein.base.files import locked, read_text, write_atomic


def test_reading_never_raises(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    big = tmp_path / "big"
    big.write_bytes(b"x" * 100)
    latin = tmp_path / "latin"
    latin.write_bytes(b"ok\ncaf\xe9")
    assert "does not exist" in (read_text(tmp_path / "none").problem or "")
    assert "directory" in (read_text(tmp_path).problem or "")
    assert "back to itself" in (read_text(loop).problem or "")
    assert "not a regular file" in (read_text(fifo).problem or "")
    assert "larger" in (read_text(big, limit=10).problem or "")
    decoded = read_text(latin)
    assert decoded.readable
    assert "line 2" in (decoded.problem or "")
    assert decoded.text == "ok\ncaf�"


def test_bom_is_taken_off_and_remembered(tmp_path: Path) -> None:
    path = tmp_path / "bom"
    path.write_bytes(b"\xef\xbb\xbfhello")
    assert read_text(path).text == "hello"
    assert read_text(path).bom


def test_atomic_write_keeps_the_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_text("old")
    path.chmod(0o750)
    write_atomic(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o750
    assert [item.name for item in tmp_path.iterdir()] == ["script"]


def test_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def broken(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_a_lock_excludes_others(tmp_path: Path) -> None:
    held: list[bool] = []
    with locked(tmp_path / "lock") as first:

        def other() -> None:
            with locked(tmp_path / "lock", blocking=False) as second:
                held.append(second)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert first
    assert held == [False]
