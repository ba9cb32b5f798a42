"""The transcript file under its lock: it takes whole lines and nothing else."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from checkrein.base.errors import SessionError
from checkrein.base.home import private_dir
from checkrein.runtime.store.layout import not_found, unwritable
from checkrein.runtime.store.lines import MAX_LINE
from checkrein.runtime.store.lock import SessionLock


class TranscriptFile:
    """`write` acknowledges: when it returns, write(2) has taken the lines. `sync` makes them survive a power
    loss.

    Before it adds a line, it closes a torn tail with a newline. An earlier crash or our own failed write may
    leave such a tail.
    """

    def __init__(self, path: Path, descriptor: int, lock: SessionLock | None, *, torn: bool) -> None:
        self.path = path
        self._descriptor = descriptor
        self._lock = lock
        self._torn = torn
        self._directory_synced = False
        self.size = os.fstat(descriptor).st_size if lock else 0

    @classmethod
    def open(cls, path: Path, lock: SessionLock, *, create: bool = False) -> TranscriptFile:
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            descriptor = os.open(path, flags | (os.O_CREAT if create else 0), 0o600)
        except FileNotFoundError as error:
            raise not_found(path.stem, path.parent) from error
        except OSError as error:
            raise unwritable(path, error) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise SessionError(f"{path} is not a regular file.", kind="session_write_failed")
        return cls(path, descriptor, lock, torn=_heal(descriptor))

    @classmethod
    def nowhere(cls) -> TranscriptFile:
        """A transcript that keeps nothing, for sessions that must not be saved."""
        return cls(Path(os.devnull), os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), None, torn=False)

    @property
    def saved(self) -> bool:
        return self._lock is not None

    def write(self, lines: bytes) -> None:
        if len(lines) > MAX_LINE:
            raise SessionError(
                f"An entry of {len(lines) >> 20} MiB is too large for {self.path}.",
                kind="session_entry_too_large",
                hint=f"Keep large tool output in tool-results; an entry has at most {MAX_LINE >> 20} MiB.",
            )
        data = memoryview(b"\n" + lines if self._torn else lines)
        self._torn = True
        try:
            while data:
                written = os.write(self._descriptor, data)
                self.size += written
                data = data[written:]
        except OSError as error:
            raise unwritable(self.path, error) from error
        self._torn = False

    def sync(self) -> None:
        if not self.saved:
            return
        try:
            os.fsync(self._descriptor)
            if not self._directory_synced:
                _sync_directory(self.path.parent)
                self._directory_synced = True
        except OSError as error:
            raise unwritable(self.path, error) from error

    def close(self) -> None:
        """Release the session; remove a transcript that nobody wrote to."""
        if self._descriptor < 0:
            return
        os.close(self._descriptor)
        self._descriptor = -1
        if self._lock:
            if not self.size:
                with contextlib.suppress(OSError):
                    os.unlink(self.path)
            self._lock.release()


def _heal(descriptor: int) -> bool:
    """True when the file does not end with a newline. It cuts half a character at the end, because the rest
    must be UTF-8."""
    size = os.fstat(descriptor).st_size
    tail = os.pread(descriptor, 4, max(0, size - 4))
    for length in range(1, min(4, len(tail)) + 1):
        first = tail[-length]
        if first & 0xC0 == 0xC0:
            whole = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
            if length < whole:
                os.ftruncate(descriptor, size - length)
            break
        if first < 0x80:
            break
    return bool(tail) and not tail.endswith(b"\n")


def directory_for(path: Path) -> None:
    try:
        private_dir(path.parent)
    except OSError as error:
        raise unwritable(path.parent, error) from error


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems have no fsync for directories
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
