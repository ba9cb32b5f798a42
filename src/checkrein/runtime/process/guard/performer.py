"""Does one call in the caller's place: reads its memory, acts with its rights, gives it the result."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct

from checkrein.runtime.process.guard import launcher, syscalls
from checkrein.runtime.process.guard.places import Place, base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from checkrein.runtime.process.guard.notification import Notification

_UNTAGGED = (1 << 56) - 1
_LONGEST_PATH = 4096
_FOLLOW = 0x400
_OPENAT2 = 437
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}


class Performer:
    """One notified call. Exactly one of `done`, `inject`, `proceed` and `apart` answers it."""

    def __init__(self, notification: Notification) -> None:
        self.pid = notification.pid
        self.args = notification.arguments
        self._notification = notification
        try:
            self._memory = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES)) from None

    def __enter__(self) -> Performer:
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self._memory)

    @property
    def is_valid(self) -> bool:
        return self._notification.is_valid

    def descriptor(self, argument: int) -> int:
        number = self.args[argument] & 0xFFFF_FFFF
        return number - ((number & 0x8000_0000) << 1)

    def text(self, argument: int) -> bytes:
        """A path. Raises OSError as the kernel would."""
        address = self.args[argument] & _UNTAGGED
        data = b""
        while (end := data.find(0)) < 0:
            if len(data) >= _LONGEST_PATH:
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
            more = self._read(address + len(data), 256 if not data else _LONGEST_PATH)
            data += more
        if not self.is_valid:
            raise OSError(errno.EINTR, os.strerror(errno.EINTR))
        return data[:end]

    def data(self, argument: int, size: int) -> bytes:
        return self._read(self.args[argument] & _UNTAGGED, size)

    def _read(self, address: int, size: int) -> bytes:
        try:
            found = os.pread(self._memory, size, address)
        except (OSError, OverflowError):
            found = b""
        if not found:
            raise OSError(errno.EFAULT, os.strerror(errno.EFAULT))
        return found

    def done(self) -> None:
        self._notification.succeed()

    def proceed(self) -> None:
        """Leave it to the kernel."""
        self._notification.proceed()

    def inject(self, opened: int, flags: int) -> None:
        """Give the caller an open file, as the result of its call, and close it here."""
        try:
            self._notification.give(opened, flags & os.O_CLOEXEC)
        finally:
            os.close(opened)

    def apart(self, work: Callable[[], int], flags: int) -> None:
        """Open a file that may take long, in a process of its own."""

        def open_it() -> None:
            try:
                self.inject(work(), flags)
            except OSError as error:
                self._notification.refuse(error.errno or errno.EIO)

        launcher.beside(open_it)

    def open_resolved(self, argument: int, flags: int, mode: int, resolve: int, path: bytes = b"") -> int:
        """openat2 with limits on the walk, from the caller's directory."""
        start = os.open(base(self.pid, self.descriptor(argument - 1)), os.O_PATH | os.O_CLOEXEC)
        try:
            how = struct.pack("=3Q", flags | os.O_CLOEXEC, mode, resolve)
            opened = syscalls.call(_OPENAT2, start, path or self.text(argument), how, len(how))
            return syscalls.check(opened, "openat2")
        finally:
            os.close(start)

    def rename(self, source: Place, goal: Place, flags: int) -> None:
        number = _RENAMEAT2[os.uname().machine]
        moved = syscalls.call(number, source.parent, source.name, goal.parent, goal.name, flags)
        syscalls.check(moved, "renameat2")

    def link(self, source: Place, goal: Place) -> None:
        """Of the file that was judged, by its descriptor; a link itself has only its name."""
        if source.name:
            os.link(
                source.name,
                goal.name,
                src_dir_fd=source.parent,
                dst_dir_fd=goal.parent,
                follow_symlinks=False,
            )
            return
        old = f"/proc/self/fd/{source.file}".encode()
        made = syscalls.LIBRARY.linkat(-100, old, goal.parent, goal.name, _FOLLOW)
        syscalls.check(made, "linkat")


@contextlib.contextmanager
def as_caller(pid: int) -> Iterator[None]:
    """With the caller's umask and, where it is another user by now, with its rights on files."""
    status = _status(pid)
    before = os.umask(int(status[b"Umask"], 8))
    user, group = int(status[b"Uid"].split()[3]), int(status[b"Gid"].split()[3])
    other = (user, group) != (os.geteuid(), os.getegid())
    groups = os.getgroups() if other else []
    try:
        if other:
            with contextlib.suppress(PermissionError):
                os.setgroups([int(one) for one in status[b"Groups"].split()])
            _library.setfsgid(group)
            _library.setfsuid(user)
            if _library.setfsuid(-1) != user:
                raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        yield
    finally:
        if other:
            _library.setfsuid(os.geteuid())
            _library.setfsgid(os.getegid())
            with contextlib.suppress(PermissionError):
                os.setgroups(groups)
        os.umask(before)


def _status(pid: int) -> dict[bytes, bytes]:
    with open(f"/proc/{pid}/status", "rb") as file:
        return dict(line.split(b":", 1) for line in file.read().splitlines() if b":" in line)


_library = ctypes.PyDLL(None, use_errno=True)
