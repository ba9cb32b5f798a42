"""Who works in a worktree: one owner at a time. The kernel frees it when the owner's process ends."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Literal

import msgspec
from msgspec import Struct

from checkrein.base.clock import now, timestamp

State = Literal["creating", "ready", "removing"]
_TRIES = 5
_MOMENT = 0.01
"""Who only looks at a mark holds it for a moment."""


class Note(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an owner says of itself. A note that stays `creating` without its owner is of a broken start, one
    that stays `removing` perhaps of a broken end: there was nothing to lose."""

    owner: str = ""
    pid: int = 0
    since: str = ""
    started: float = 0.0
    state: State = "ready"
    base: str = ""


class Mark:
    """A file that one owner holds locked. Another holder, in this process too, can't have it."""

    def __init__(self, path: str, descriptor: int, note: Note) -> None:
        self.path = path
        self.note = note
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: str) -> Mark | None:
        """None while another owner is alive. A dead one's mark is taken over; its note stays until
        `write`."""
        import fcntl

        tries = _TRIES
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(path, flags, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(descriptor, path):
                    return cls(path, descriptor, _read(descriptor))
            except BlockingIOError:
                os.close(descriptor)
                tries -= 1
                if not tries:
                    return None
                time.sleep(_MOMENT)
                continue
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # its holder removed it between our open and our lock

    def write(self, *, state: State, base: str, owner: str) -> None:
        self.note = Note(
            owner=owner, pid=os.getpid(), since=timestamp(), started=now(), state=state, base=base
        )
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, msgspec.json.encode(self.note), 0)
        os.fsync(self._descriptor)

    def leave(self) -> None:
        """Let go. The note stays: it says who was here last, and from which commit the work started."""
        if not self.note.pid:
            self.remove()
        else:
            os.close(self._descriptor)

    def remove(self) -> None:
        """Remove the file while it is held, so that nobody takes a deleted one."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        os.close(self._descriptor)


def look(path: str) -> tuple[Note | None, bool]:
    """The note at a path, and whether its owner is alive."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None, False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return _read(descriptor), False
    except OSError:
        return _read(descriptor), True
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> Note:
    try:
        return msgspec.json.decode(os.pread(descriptor, 65_536, 0), type=Note)
    except (OSError, msgspec.MsgspecError):
        return Note()


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
