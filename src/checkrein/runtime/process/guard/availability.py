"""Whether the exec guard holds on this machine, by trial."""

from __future__ import annotations

import errno
import os
import sys
import threading
from functools import cache

from msgspec import Struct

_WHY = {
    errno.EBUSY: "another program above this one judges the starts of programs already (Checkrein inside "
    "Checkrein, or a container manager)",
    errno.ENOSYS: "the kernel is too old (it needs 5.5 or later) or has no seccomp",
    errno.EINVAL: "the kernel is too old (it needs 5.5 or later) or has no seccomp",
    errno.EACCES: "this container forbids seccomp filters",
    errno.EPERM: "this container forbids seccomp filters",
}
_MEANING = "Programs are judged by the text of the command alone, and strictly."


class GuardStatus(Struct, frozen=True, kw_only=True):
    """`why` says what is missing, `meaning` what follows from it; both are empty where the guard holds."""

    holds: bool
    why: str = ""
    meaning: str = ""


@cache
def guard_status() -> GuardStatus:
    """A thread of this process tries it, and ends: nothing else of the process has the filter."""
    if not sys.platform.startswith("linux") or not os.path.exists("/proc/self/mem"):
        return _missing("it needs Linux with /proc")
    from checkrein.runtime.process.guard import filters

    if not filters.is_known_machine():
        return _missing("it knows the system calls of x86-64 and arm64 only")
    failed: list[OSError] = []

    def work() -> None:
        from checkrein.runtime.process.guard import syscalls

        try:
            syscalls.prctl(syscalls.NO_NEW_PRIVILEGES, 1)
            os.close(syscalls.filter_calls(filters.program(filters.STARTS, ()), listen=True))
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=work, name="checkrein-trial")
    thread.start()
    thread.join()
    if failed:
        return _missing(_WHY.get(failed[0].errno or 0, str(failed[0])))
    return GuardStatus(holds=True)


def _missing(why: str) -> GuardStatus:
    return GuardStatus(holds=False, why=f"The exec guard does not hold here: {why}.", meaning=_MEANING)
