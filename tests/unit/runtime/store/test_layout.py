from __future__ import annotations

import os
from pathlib import Path

import pytest

from checkrein.base.errors import NotFoundError, SessionError, UsageError
from checkrein.runtime.store import SessionStore, layout


def test_root_is_the_checkrein_home_unless_claude_config_dir_is_set(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert layout.default_root() == home / "projects"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
    assert layout.default_root() == home / "claude" / "projects"


def test_project_name_replaces_what_is_not_a_letter_or_digit() -> None:
    assert layout.safe_name("/home/ann/my_app.v2") == "-home-ann-my-app-v2"
    assert layout.safe_name("/a/ü b") == "-a---b"


def test_long_names_are_cut_and_hashed() -> None:
    name = layout.safe_name("/" + "x" * 300)
    assert name == "-" + "x" * 199 + "-" + name.rpartition("-")[2]
    assert name != layout.safe_name("/" + "x" * 301)
    assert layout._hash36("") == "0"
    assert layout._hash36("hello") == "1n1e4y"  # 99162322, the usual 31-based string hash


def test_a_long_name_with_another_hash_is_found_by_its_prefix(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d" * 60] * 4)
    deep.mkdir(parents=True)
    other = tmp_path / "root" / (layout.project_name(deep)[:201] + "zzz")
    other.mkdir(parents=True)
    assert layout.project_dir(tmp_path / "root", deep) == other


def test_links_to_a_directory_are_the_same_project(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert layout.project_name(tmp_path / "link") == layout.project_name(tmp_path / "real")


def test_the_project_name_can_be_set_only_together_with_the_config_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_PROJECT_DIR_NAME", "given")
    assert layout.project_name(tmp_path) != "given"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert layout.project_name(tmp_path) == "given"
    monkeypatch.setenv("CLAUDE_CODE_PROJECT_DIR_NAME", "../up")
    assert layout.project_name(tmp_path) != "../up"


@pytest.mark.parametrize(
    "bad",
    ["", ".", "..", "../x", "a/b", "a\0b", ".hidden", "a" * 129, "ü", "a b", "x\n", "x.jsonl", "x.lock"],
)
def test_ids_that_could_leave_the_directory_are_refused(bad: str, store: SessionStore, cwd: Path) -> None:
    with pytest.raises(UsageError) as refused:
        store.create(cwd, session_id=bad)
    assert refused.value.kind == "invalid_session_id"
    with pytest.raises(UsageError):
        store.delete(bad, cwd)
    with pytest.raises(NotFoundError):
        store.load(bad, cwd)
    assert not store.root.exists() or not list(store.root.rglob("*"))


def test_a_transcript_that_is_a_link_is_neither_read_nor_written(
    tmp_path: Path, store: SessionStore, cwd: Path
) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text("{}\n")
    directory = layout.project_dir(store.root, cwd)
    directory.mkdir(parents=True)
    (directory / "s.jsonl").symlink_to(secret)
    for attempt in (
        lambda: store.load("s", cwd),
        lambda: store.resume("s", cwd),
        lambda: store.rename("s", "t", cwd),
        lambda: store.fork("s", cwd),
    ):
        with pytest.raises(SessionError):
            attempt()
    assert store.list(cwd) == ()
    assert store.delete("s", cwd)
    assert secret.read_text() == "{}\n"


def test_a_project_directory_that_is_a_link_is_refused(
    tmp_path: Path, store: SessionStore, cwd: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    store.root.mkdir(parents=True)
    layout.project_dir(store.root, cwd).symlink_to(outside)
    with pytest.raises(SessionError, match="symbolic link"):
        store.create(cwd)
    (outside / "s.jsonl").write_text("{}\n")
    with pytest.raises(SessionError, match="symbolic link"):
        store.load("s", cwd)
    with pytest.raises(SessionError, match="symbolic link"):
        store.delete("s", cwd)
    assert sorted(os.listdir(outside)) == ["s.jsonl"]


def test_a_directory_or_pipe_in_place_of_a_transcript_is_named(store: SessionStore, cwd: Path) -> None:
    directory = layout.project_dir(store.root, cwd)
    (directory / "d.jsonl").mkdir(parents=True)
    os.mkfifo(directory / "p.jsonl")
    with pytest.raises(SessionError, match="not a regular file"):
        store.load("d", cwd)
    with pytest.raises(SessionError, match="not a regular file"):
        store.load("p", cwd)
    with pytest.raises(SessionError) as refused:
        store.delete("d", cwd)
    assert refused.value.kind == "session_delete_failed"
    assert refused.value.retryable


def test_files_and_directories_are_private(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        writer.user("hi")
        assert writer.path.stat().st_mode & 0o777 == 0o600
        assert writer.path.parent.stat().st_mode & 0o777 == 0o700
