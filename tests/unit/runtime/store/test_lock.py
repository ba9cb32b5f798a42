from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from checkrein.base.errors import NotFoundError, SessionError
from checkrein.runtime.store.lock import SessionLock, holder_of, lock_path
from checkrein.runtime.store.remove import remove


def test_a_lock_is_exclusive_names_its_holder_and_leaves_nothing(tmp_path: Path) -> None:
    transcript = tmp_path / "s.jsonl"
    lock = SessionLock.acquire(transcript)
    assert holder_of(transcript) == os.getpid()
    with pytest.raises(SessionError, match=f"process {os.getpid()}") as taken:
        SessionLock.acquire(transcript)
    assert taken.value.kind == "concurrent_modification"
    assert str(transcript) in taken.value.message
    lock.release()
    assert holder_of(transcript) is None
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_a_dead_process_left_is_free(tmp_path: Path) -> None:
    transcript = tmp_path / "s.jsonl"
    lock_path(transcript).write_text("half a no")
    assert holder_of(transcript) is None
    SessionLock.acquire(transcript).release()


def test_a_holder_that_can_not_be_read_is_just_another_process(tmp_path: Path) -> None:
    transcript = tmp_path / "s.jsonl"
    lock = SessionLock.acquire(transcript)
    lock_path(transcript).write_text("noise")
    assert holder_of(transcript) == 0
    with pytest.raises(SessionError, match="another process"):
        SessionLock.acquire(transcript)
    lock.release()


def test_a_lock_on_a_file_that_was_just_removed_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holder goes between our open and our lock: what we locked is no longer the session's lock file."""
    transcript = tmp_path / "s.jsonl"
    first = SessionLock.acquire(transcript)
    real = fcntl.flock
    calls = 0

    def slow(descriptor: int, operation: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            first.release()
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", slow)
    second = SessionLock.acquire(transcript)
    assert calls == 2
    with pytest.raises(SessionError):
        SessionLock.acquire(transcript)
    second.release()


def test_a_link_in_place_of_the_lock_file_is_not_followed(tmp_path: Path) -> None:
    transcript, outside = tmp_path / "s.jsonl", tmp_path / "outside"
    lock_path(transcript).symlink_to(outside)
    with pytest.raises(SessionError) as refused:
        SessionLock.acquire(transcript)
    assert refused.value.kind == "session_write_failed"
    assert not outside.exists()


def test_a_directory_that_is_gone_is_a_session_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        SessionLock.acquire(tmp_path / "gone" / "s.jsonl")
    assert remove(tmp_path, tmp_path / "gone" / "s.jsonl") is False
