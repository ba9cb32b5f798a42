"""One writer per session: an exclusive lock on a file beside the transcript. It ends with its holder."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from checkrein.base.clock import timestamp
from checkrein.base.errors import SessionError
from checkrein.runtime.store.layout import not_found, unwritable


class SessionLock:
    """Holds `<session id>.lock`. The kernel releases it when the process ends, even after a crash."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, transcript: Path) -> SessionLock:
        """Take the lock or raise a retryable SessionError that names its holder."""
        import fcntl

        path = lock_path(transcript)
        while True:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            except FileNotFoundError as error:
                raise not_found(transcript.stem, transcript.parent) from error
            except OSError as error:
                raise unwritable(path, error) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_current(descriptor, path):
                    note = {"pid": os.getpid(), "since": timestamp()}
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, msgspec.json.encode(note), 0)
                    return cls(path, descriptor)
            except BlockingIOError:
                holder = _holder(descriptor)
                os.close(descriptor)
                raise _taken(transcript, holder) from None
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # its holder removed it between our open and our lock

    def release(self) -> None:
        """Remove the lock file while still holding it, so that nobody locks a deleted file."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        os.close(self._descriptor)


def lock_path(transcript: Path) -> Path:
    return transcript.with_name(transcript.name.removesuffix(".jsonl") + ".lock")


def holder_of(transcript: Path) -> int | None:
    """The process that writes the session now; 0 when it is unknown, None when there is none."""
    import fcntl

    try:
        descriptor = os.open(lock_path(transcript), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _holder(descriptor)
    finally:
        os.close(descriptor)
    return None


def _is_current(descriptor: int, path: Path) -> bool:
    mine = os.fstat(descriptor)
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def _holder(descriptor: int) -> int:
    try:
        note = msgspec.json.decode(os.pread(descriptor, 4096, 0))
        return int(note["pid"])
    except (OSError, ValueError, TypeError, KeyError):
        return 0


def _taken(transcript: Path, holder: int) -> SessionError:
    who = f"process {holder}" if holder else "another process"
    return SessionError(
        f"Session {transcript.name.removesuffix('.jsonl')} is open in {who} ({transcript}).",
        kind="concurrent_modification",
        hint="Wait until it ends, stop it, or go on in a copy: add --fork-session.",
        retryable=True,
    )
