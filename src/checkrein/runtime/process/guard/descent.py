"""Processes by descent: whoever leaves its group or its session is still below the warden."""

from __future__ import annotations

import os
import time

from checkrein.runtime.process.guard import syscalls

ANY_CHILD = 0x4000_0000
"""For the calls that wait: also a child that was made in another way than by fork."""
_SOON, _LATER = 0.02, 0.2
_EXEC = 0.002
"""Seconds that an exec takes at most, nearly always."""
_KERNEL_THREAD = 0x0020_0000

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Process:
    __slots__ = ("group", "is_dead", "parent", "pid", "session")

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.is_dead = fields[0] in (b"Z", b"X")
        self.parent, self.group, self.session = map(int, fields[1:4])


def processes() -> list[Process]:
    found = []
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                found.append(Process(int(name), file.read().rpartition(b")")[2].split()))
        except OSError:
            continue
    return found


def below(roots: Iterable[int], also: Callable[[Process], bool] = lambda one: False) -> set[int]:
    """The living descendants of these processes, and of each other one that `also` takes, with itself."""
    known = processes()
    children: dict[int, list[Process]] = {}
    for one in known:
        children.setdefault(one.parent, []).append(one)
    pending = [*roots, *(one.pid for one in known if also(one))]
    found = {one.pid for one in known if also(one) and not one.is_dead}
    seen = set(pending)
    while pending:
        for one in children.get(pending.pop(), ()):
            if one.pid in seen:
                continue
            seen.add(one.pid)
            pending.append(one.pid)
            if not one.is_dead:
                found.add(one.pid)
    return found


def marked(mark: str) -> set[int]:
    """Processes, other than this one, whose environment carries the mark. One that is in the middle of an
    exec shows none: it is looked at twice."""
    names = os.listdir("/proc") if os.path.isdir("/proc/self") else []
    others = [int(name) for name in names if name.isdecimal() and int(name) != os.getpid()]
    found, between = _carriers(mark, others)
    if between:
        time.sleep(_EXEC)
        found |= _carriers(mark, between)[0]
    return found


def _carriers(mark: str, pids: Iterable[int]) -> tuple[set[int], list[int]]:
    """Who carries the mark, and who shows no environment although it is a program."""
    wanted, found, between = mark.encode(), set(), []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                shown = file.read()
            if wanted in shown:
                found.add(pid)
            elif not shown and _is_program(pid):
                between.append(pid)
        except OSError:
            continue
    return found, between


def _is_program(pid: int) -> bool:
    """Neither dead nor a thread of the kernel."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return fields[0] not in (b"Z", b"X") and not int(fields[6]) & _KERNEL_THREAD


class Rest:
    """What is left below this process, or carries the mark, when nothing new starts any more. It is told to
    end, and after `grace` seconds ended. Something may come late for `late` seconds: a process has its mark
    only after its exec."""

    def __init__(self, mark: str, grace: float, late: float) -> None:
        self._mark = mark
        self._kill_after = time.monotonic() + grace
        self._look_until = time.monotonic() + late
        self._left = self._find()
        send(self._left, syscalls.SIGTERM)

    @property
    def patience(self) -> float:
        """How long to wait before the next look."""
        return _SOON if self._left else _LATER

    @property
    def is_gone(self) -> bool:
        may_come = time.monotonic() < self._look_until
        if self._left or may_come:
            self._left = self._find()
            if time.monotonic() > self._kill_after:
                send(self._left, syscalls.SIGKILL)
        return not self._left and not may_come

    def _find(self) -> set[int]:
        return marked(self._mark) | (below((os.getpid(),)) if _has_children() else set())


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT | ANY_CHILD)
    except ChildProcessError:
        return False
    return True


def send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with syscalls.ignored:
            os.kill(pid, number)
