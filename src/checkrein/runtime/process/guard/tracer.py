"""Proof that what was judged is what starts.

The kernel reads path and arguments again after the answer, and somebody may have changed them: another
thread, or any process that shares the memory or the directory. So the warden traces the caller over the exec.
It sees the new program before its first instruction. Where a debugger traces the caller already, the warden
looks from outside, as soon as it can: that is detection, not prevention. So it goes for the debuggers of the
machine alone; a tracer that somebody brought along could let the program run before anybody looks.
"""

from __future__ import annotations

import os
import time

from checkrein.runtime.process.guard import syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATIENCE = 0.05
_LONGEST_LOOK = 0.005
_DEBUGGERS = frozenset(
    (
        *("strace", "strace64", "ltrace", "gdb", "gdbserver", "lldb", "lldb-server", "debugserver", "rr"),
        *("dlv", "delve", "proot", "cargo-tarpaulin", "tarpaulin"),
    )
)
_EXEC_EVENT = 4
_STOP_EVENT = 128
_CHUNK = 1 << 16


class Expected:
    """A start that was let through. `launch` is whose it is, for the caller of this module."""

    __slots__ = ("before", "began", "inode", "launch", "line", "pid")

    def __init__(self, pid: int, inode: tuple[int, int], line: bytes, launch: Any) -> None:
        self.pid = pid
        self.inode = inode
        self.line = line
        self.launch = launch
        self.began = time.monotonic()
        self.before: tuple[tuple[int, int], bytes] | None = None

    def shown(self) -> tuple[tuple[int, int], bytes]:
        """The executable and the command line that the process has now. Raises OSError when it is gone."""
        about = os.stat(f"/proc/{self.pid}/exe")
        file = os.open(f"/proc/{self.pid}/cmdline", os.O_RDONLY | os.O_CLOEXEC)
        try:
            line = part = os.read(file, _CHUNK)
            while len(part) == _CHUNK or (part and len(line) < len(self.line)):
                part = os.read(file, _CHUNK)
                line += part
        finally:
            os.close(file)
        return (about.st_dev, about.st_ino), line

    @property
    def holds(self) -> bool:
        return self.shown() == (self.inode, self.line)


class Tracer:
    def __init__(self) -> None:
        self._born = time.time_ns()
        self._traced: dict[int, Expected] = {}
        self._watched: list[Expected] = []
        self._looked = 0.0

    @property
    def is_due(self) -> bool:
        """`overdue` has work, or had a look too long ago."""
        return bool(self._watched) or time.monotonic() > self._looked + PATIENCE

    @property
    def patience(self) -> float | None:
        """Seconds until `overdue` has work."""
        if self._watched:
            return 0.0005
        return PATIENCE if self._traced else None

    def follow(self, expected: Expected) -> bool:
        """Call it while the caller waits for its answer. False when somebody else traces it."""
        options = syscalls.TRACE_EXEC | syscalls.EXIT_KILL
        seized = syscalls.ptrace(syscalls.SEIZE, expected.pid, options)
        if seized or _tracer(expected.pid) == os.getpid():  # traced still, because its last exec failed
            self._traced[expected.pid] = expected
            return True
        try:
            expected.before = expected.shown()
        except OSError:
            expected.before = (0, 0), b""
        return False

    def adopt(self, expected: Expected) -> None:
        """It is traced already."""
        self._traced[expected.pid] = expected

    def stranger(self, expected: Expected) -> str | None:
        """Who traces it, unless that is a debugger which was there before us."""
        try:
            debugger = f"/proc/{_tracer(expected.pid)}/exe"
            program, about = os.readlink(debugger), os.stat(debugger)
        except OSError:
            return "another process"
        known = os.path.basename(program) in _DEBUGGERS and about.st_ctime_ns < self._born
        return None if known else program

    def look(self, expected: Expected) -> None:
        """Wait a moment until an untraced start shows its program: `overdue` tells which one."""
        self._watched.append(expected)
        end = time.monotonic() + _LONGEST_LOOK
        try:
            while time.monotonic() < end:
                shown = expected.shown()
                if shown != expected.before and shown[1]:
                    return
        except OSError:
            return

    def stopped(self, pid: int, status: int) -> Expected | None:
        """A traced process stopped. Returns what was expected when it has started its program; `release` must
        follow."""
        if status >> 16 == _EXEC_EVENT:
            known = self._traced.pop(pid, None)
            if known is None:
                known = self._traced.pop(syscalls.former_thread(pid), None)
            if known is None:
                self.release(pid)
                return None
            known.pid = pid
            return known
        self._traced.pop(pid, None)
        number = 0 if status >> 16 == _STOP_EVENT else os.WSTOPSIG(status)
        syscalls.ptrace(syscalls.DETACH, pid, number)  # back from the exec before its event: it failed
        return None

    def release(self, pid: int) -> None:
        syscalls.ptrace(syscalls.DETACH, pid)

    def gone(self, pid: int) -> None:
        self._traced.pop(pid, None)

    def overdue(self) -> list[Expected]:
        """Ends the tracing of starts that failed. Returns the untraced ones that show another program."""
        self._looked = now = time.monotonic()
        for one in self._traced.values():
            if now - one.began > PATIENCE:
                syscalls.ptrace(syscalls.INTERRUPT, one.pid)
        different = []
        for one in list(self._watched):
            try:
                shown = one.shown()
            except OSError:
                self._watched.remove(one)
                continue
            if shown == (one.inode, one.line):
                self._watched.remove(one)
            elif shown != one.before:
                self._watched.remove(one)
                different.append(one)
            elif now - one.began > PATIENCE:
                self._watched.remove(one)
        return different


def _tracer(pid: int) -> int:
    with open(f"/proc/{pid}/status", "rb") as file:
        return int(file.read().partition(b"\nTracerPid:")[2].split(None, 1)[0])
