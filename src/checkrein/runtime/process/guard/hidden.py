"""Hides files from a command: it gets mounts of its own, and an unreadable thing lies over each of them.

For the child that becomes the command, before it gives up rights. An ordinary user needs a user name space of
its own for it; the command then has no rights over these mounts. Files that appear later are not hidden.
"""

from __future__ import annotations

import ctypes
import os
import stat

from checkrein.runtime.process.guard import syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_NEW_MOUNTS, _NEW_USER = 0x20000, 0x10000000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS, _REMOUNT, _BIND = 1, 2, 4, 8, 32, 4096
_RECURSIVE, _SLAVE = 16384, 1 << 19
_CLOSED = _READ_ONLY | _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS


def hide(paths: Iterable[str]) -> None:
    """Raises OSError where the machine does not allow it."""
    own_mounts()
    for path in paths:
        try:
            file = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            continue
        try:
            _cover(file)
        finally:
            os.close(file)


def own_mounts() -> None:
    """Mounts that nobody else sees; what others mount later is seen here too."""
    if syscalls.LIBRARY.unshare(_NEW_MOUNTS) < 0:
        user, group = os.geteuid(), os.getegid()
        syscalls.check(syscalls.LIBRARY.unshare(_NEW_MOUNTS | _NEW_USER), "unshare")
        syscalls.prctl(syscalls.DUMPABLE, 1)  # else these files belong to root
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    _mount(b"none", b"/", None, _RECURSIVE | _SLAVE)


def _cover(file: int) -> None:
    target = f"/proc/self/fd/{file}".encode()
    if stat.S_ISDIR(os.fstat(file).st_mode):
        _mount(b"none", target, b"tmpfs", _CLOSED, b"mode=000,size=4k")
        return
    _mount(b"/dev/null", target, None, _BIND)
    # The descriptor still means the file below, so the path leads to what now lies over it.
    _mount(b"none", os.fsencode(os.readlink(target)), None, _BIND | _REMOUNT | _CLOSED)


def _mount(source: bytes, target: bytes, kind: bytes | None, flags: int, data: bytes | None = None) -> None:
    done = syscalls.LIBRARY.mount(source, target, kind, ctypes.c_ulong(flags), data)
    syscalls.check(done, f"mount {os.fsdecode(target)}")
