"""Starts a guarded command: a child of the warden that gives up rights, hands over its listener, and becomes
the command."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import struct

from checkrein.runtime.process.guard import filters, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

    from checkrein.runtime.process.guard.effect_calls import Effects

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ANSWER = struct.Struct("=ii")


class Fence:
    """What keeps a command out of the warden and of the session.

    Yama does it for ordinary users. Else it is a Landlock domain, or refused calls."""

    def __init__(self) -> None:
        self.ruleset = -1
        refused: tuple[str, ...] = filters.UNJUDGED
        if not _descendants_stay_out():
            if syscalls.landlock_version() >= 6:
                self.ruleset = syscalls.fence()
            else:
                refused += filters.INSIGHT
        self._refused = refused
        self._plain = filters.program(filters.STARTS, refused)

    def program(self, effects: Effects | None) -> bytes:
        """The filter for a command, with the other calls of it that are judged."""
        if effects is None:
            return self._plain
        return filters.program(filters.STARTS, (*self._refused, *effects.refused), effects.steps)


def _descendants_stay_out() -> bool:
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope") as file:
            return int(file.read()) >= 1 and os.geteuid() != 0
    except (OSError, ValueError):
        return False


def launch(
    order: dict[str, Any], descriptors: list[int], fence: Fence, effects: Effects | None
) -> tuple[int, int, int]:
    """The child's number, its listener, and a pipe: it ends when the command has started, and an error comes
    out of it when it has not. Raises OSError when it could not even try."""
    order["path"] = executable(order["argv"][0], order["env"], order["cwd"])
    reading, writing = os.pipe()
    pid = syscalls.clone_sharing_files()
    if pid == 0:
        _become(order, descriptors, fence, fence.program(effects), writing)
    said = os.read(reading, _ANSWER.size)
    os.close(writing)
    failed, listener = _ANSWER.unpack(said)
    if failed:
        os.close(reading)
        os.waitpid(pid, 0)
        raise OSError(failed, os.strerror(failed))
    return pid, listener, reading


def beside(work: Callable[[], None]) -> None:
    """Do something that may take long in a copy of the warden, which ends with it."""
    if os.fork():
        return
    try:
        work()
    finally:
        os._exit(0)


def failure(pipe: int) -> int:
    """The error of a start, 0 when the command has started."""
    said = os.read(pipe, _ANSWER.size)
    return int(_ANSWER.unpack(said)[0]) if said else 0


def executable(name: str, env: Mapping[str, str], cwd: str) -> str:
    """The path of a program, looked for as execvp does."""
    if not os.path.isdir(cwd):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if "/" in name:
        return name
    found = errno.ENOENT
    for directory in env.get("PATH", os.defpath).split(":"):
        path = os.path.join(cwd, directory, name)
        try:
            if stat.S_ISREG(os.stat(path).st_mode):
                if os.access(path, os.X_OK):
                    return path
                found = errno.EACCES
        except OSError:
            continue
    raise OSError(found, os.strerror(found))


def _become(
    order: Mapping[str, Any], descriptors: list[int], fence: Fence, program: bytes, writing: int
) -> NoReturn:
    """In the child. It shares the warden's descriptors until it has its listener."""
    try:
        parent = os.getppid()
        syscalls.prctl(syscalls.PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)
        os.setsid()
        if order["hidden"]:
            from checkrein.runtime.process.guard.cover import hide

            hide(order["hidden"])
        os.chdir(order["cwd"])
        _confine(order, descriptors, fence)
        listener = syscalls.filter_calls(program, listen=True)
        syscalls.own_files()
        os.close(listener)
        os.write(writing, _ANSWER.pack(0, listener))
        writing = _place(order["targets"], descriptors, writing)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(order["path"], order["argv"], order["env"])  # noqa: S606
    except OSError as error:
        os.write(writing, _ANSWER.pack(error.errno or errno.EIO, -1))
    finally:
        os._exit(127)


def _confine(order: Mapping[str, Any], descriptors: list[int], fence: Fence) -> None:
    syscalls.prctl(syscalls.NO_NEW_PRIVILEGES, 1)
    if order["capabilities"] is not None:
        syscalls.keep_capabilities(order["capabilities"])
    if order["has_ruleset"]:
        syscalls.restrict(descriptors[len(order["targets"])])
    elif fence.ruleset >= 0:
        syscalls.restrict(fence.ruleset)
    if order["filter"] is not None:
        syscalls.filter_calls(order["filter"])


def _place(targets: tuple[int, ...], descriptors: list[int], writing: int) -> int:
    """Give each descriptor the number that the command knows it by. Everything else closes on exec. Returns
    the new number of `writing`."""
    above = max(targets) + 1
    aside = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, above) for one in descriptors[: len(targets)]]
    writing = fcntl.fcntl(writing, fcntl.F_DUPFD_CLOEXEC, above)
    for held, target in zip(aside, targets):
        os.dup2(held, target)
    return writing
