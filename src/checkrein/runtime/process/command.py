"""What to start and how it ended: the values that go into and come out of `spawn`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.runtime.process.capture import FILE_LIMIT
from checkrein.runtime.process.environment import without

if TYPE_CHECKING:
    from checkrein.runtime.process.capture import Filter
    from checkrein.runtime.process.child import Child
    from checkrein.runtime.process.guard.guard import Guard, Refusal
    from checkrein.runtime.process.protected import ProtectedFiles, Restored
    from checkrein.runtime.process.proxy import Lease
    from checkrein.runtime.process.sandbox.policy import SandboxPolicy

_MEMORY_LIMIT = 1 << 20
_LONGEST_LINE = 64 << 20
GRACE = 1.0
"""Seconds between the request to end and the kill."""


class Protect(Struct, frozen=True):
    """The protected files of a session, and which of them one command may change."""

    files: ProtectedFiles
    allows: Callable[[str], bool]


class Command(Struct, frozen=True, kw_only=True):
    """What to start.

    bash runs a text `argv`, without start-up files. `env` is the whole environment of the child.
    `limit` bytes of each stream stay in memory; with `spill`, longer standard output is in that file, up to
    `spill_limit` bytes.
    `longest_line` bytes of a line from live pipes do.
    `filter` changes what goes into that file. `pass_fds` stay open in the child under the same numbers. With
    `guard`, every program that it starts is judged when it starts. `protect` says which protected files it
    may change. `lease` is its way through the session's proxy.
    """

    argv: tuple[str, ...] | str
    cwd: str
    origin: Origin
    purpose: str
    env: Mapping[str, str]
    stdin: bytes = b""
    timeout: float | None = None
    merge_stderr: bool = False
    limit: int = _MEMORY_LIMIT
    longest_line: int = _LONGEST_LINE
    spill: str | None = None
    spill_limit: int = FILE_LIMIT
    filter: Filter | None = None
    sandbox: SandboxPolicy | None = None
    pass_fds: tuple[int, ...] = ()
    protect: Protect | None = None
    lease: Lease | None = None
    guard: Guard | None = None

    def without(self, names: frozenset[str]) -> Command:
        """The command without these variables."""
        env = without(self.env, names)
        return self if len(env) == len(self.env) else replace(self, env=env)


class Completed(Struct, frozen=True, kw_only=True):
    """How a command ended. `exit_code` is 128 + the signal's number when a signal ended it, as shells say it,
    127 when it could not start (`stderr` says why). `tail` is the end of standard output that `stdout` is
    too short for. `running` is set when the time ran out and the command goes on in the background. `refused`
    are the programs that the guard stopped, `powerless` those that ran without their owner's rights.
    `restored` are protected files that this command, or one in the background before, had changed."""

    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""
    tail: bytes = b""
    size: int = 0
    spill: str | None = None
    timed_out: bool = False
    cancelled: bool = False
    started: bool = True
    duration_ms: int = 0
    running: Running | None = None
    restored: tuple[Restored, ...] = ()
    refused: tuple[Refusal, ...] = ()
    powerless: tuple[str, ...] = ()

    @property
    def truncated(self) -> bool:
        return self.size > len(self.stdout)


class Running:
    """A command in the background. Its output goes to `path` as it comes."""

    def __init__(self, child: Child, command: Command) -> None:
        self.command = command
        self._child = child

    @property
    def path(self) -> str | None:
        return self._child.out.path

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._child.exit_code

    @property
    def size(self) -> int:
        return self._child.out.size

    @property
    def stderr(self) -> bytes:
        return self._child.err.head if self._child.err else b""

    @property
    def last(self) -> bytes:
        """The end of what it has said so far."""
        return self._child.out.last

    def let_go(self) -> None:
        """Whoever waits for it waits no longer; it goes on in the background."""
        self._child.let_go = True
        if self._child.wake is not None:
            self._child.wake()

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """The programs that the guard has stopped so far."""
        return self._child.refused

    @property
    def powerless(self) -> tuple[str, ...]:
        return self._child.powerless

    @property
    def restored(self) -> tuple[Restored, ...]:
        """The protected files that were restored since the last look."""
        around = self._child.around
        return around.restored(over=False) if around is not None else ()

    @property
    def killed(self) -> bool:
        return self._child.stopping is not None

    def wait(self, timeout: float | None = None) -> int | None:
        self._child.ended.wait(timeout)
        return self.exit_code

    def kill(self, wait: float = 2 * GRACE) -> int | None:
        """Stop it and everything in its group; returns its exit status."""
        self._child.stop(GRACE)
        return self.wait(wait)


class Pipes(Protocol):
    """A running process with live pipes; `Spawner.open` makes it. Any thread may use it, and `close` wakes
    every thread that waits in another call."""

    @property
    def exit_code(self) -> int | None: ...

    @property
    def stderr(self) -> bytes: ...

    @property
    def refused(self) -> tuple[Refusal, ...]: ...

    def write(self, data: bytes) -> None: ...

    def read_line(self, timeout: float | None = None) -> bytes: ...

    def close(self, grace: float = GRACE) -> int | None: ...
