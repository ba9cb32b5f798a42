"""Whether the exec guard holds on this machine, by trial."""

from __future__ import annotations

import errno
import os
import sys
import threading
from functools import cache

from msgspec import Struct

from checkrein.runtime.process.guard import filters

_REASONS = {
    errno.EBUSY: "another program already judges what starts here (Checkrein inside Checkrein, a container)",
    errno.ENOSYS: "the kernel has no seccomp",
    errno.EINVAL: "the kernel is older than 5.5",
    errno.EPERM: "the container forbids seccomp filters",
    errno.EACCES: "the container forbids seccomp filters",
}


class GuardStatus(Struct, frozen=True):
    """`why` says what keeps the guard from holding."""

    holds: bool
    why: str = ""


@cache
def detect() -> GuardStatus:
    """A thread of our own takes a listener, as a command would, and ends."""
    if not sys.platform.startswith("linux"):
        return GuardStatus(False, "only Linux can judge programs at their start")
    if not filters.is_known_machine():
        return GuardStatus(False, "the system calls of this machine are not known")
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(_trial()), name="checkrein-trial")
    thread.start()
    thread.join()
    number = found[0] if found else errno.EIO
    if not number:
        return GuardStatus(True)
    return GuardStatus(False, _REASONS.get(number, os.strerror(number)))


def _trial() -> int:
    """0, or the number of the error."""
    from checkrein.runtime.process.guard import syscalls

    try:
        syscalls.prctl(syscalls.NO_NEW_PRIVILEGES, 1)
        os.close(syscalls.filter_calls(filters.program(filters.STARTS, ()), listen=True))
    except OSError as error:
        return error.errno or errno.EIO
    return 0
