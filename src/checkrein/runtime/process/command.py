"""What to start and how it ended: the values that go into and come out of `spawn`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.runtime.process.environment import without

if TYPE_CHECKING:
    from checkrein.runtime.process.capture import Filter
    from checkrein.runtime.process.child import Child
    from checkrein.runtime.process.sandbox.policy import SandboxPolicy

_MEMORY_LIMIT = 1 << 20
GRACE = 1.0
"""Seconds between the request to end and the kill."""


class Command(Struct, frozen=True, kw_only=True):
    """What to start.

    bash runs a text `argv`, without start-up files. `env` is the whole environment of the child.
    `limit` bytes of each stream stay in memory; with `spill`, longer standard output is in that file.
    `filter` changes what goes into that file. `pass_fds` stay open in the child under the same numbers.
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
    spill: str | None = None
    filter: Filter | None = None
    sandbox: SandboxPolicy | None = None
    pass_fds: tuple[int, ...] = ()

    def without(self, names: frozenset[str]) -> Command:
        """The command without these variables."""
        env = without(self.env, names)
        return self if len(env) == len(self.env) else replace(self, env=env)


class Completed(Struct, frozen=True, kw_only=True):
    """How a command ended. `exit_code` is 128 + the signal's number when a signal ended it, as shells say it,
    127 when it could not start (`stderr` says why). `tail` is the end of standard output that `stdout` is
    too short for. `running` is set when the time ran out and the command goes on in the background."""

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

    @property
    def truncated(self) -> bool:
        return self.size > len(self.stdout)


class Running:
    """A command in the background. Its output goes to `path` as it comes."""

    def __init__(self, child: Child, command: Command) -> None:
        self.command = command
        self._child = child

    @property
    def pid(self) -> int:
        return self._child.pid

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

    def write(self, data: bytes) -> None: ...

    def read_line(self, timeout: float | None = None) -> bytes: ...

    def close(self, grace: float = GRACE) -> int | None: ...
