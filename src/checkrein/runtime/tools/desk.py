"""What the tools of one session remember between calls."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from checkrein.runtime.process.spawner import Running
    from checkrein.runtime.timers.late_jobs import LateJobs
    from checkrein.runtime.timers.monitors import Monitors
    from checkrein.runtime.tools.claims import Membership
    from checkrein.runtime.tools.delegate import Delegate
    from checkrein.runtime.tools.tasks import TaskList

View = Literal["whole", "range", "partial"]
"""`partial`: the model did not choose lines, and saw only the first page of a long file."""


_WORDS = 120


class Seen(Struct, frozen=True):
    """A file as the model last saw it."""

    digest: str
    view: View


class Shell(Struct, kw_only=True):
    """A command in the background. `told` is how much of its output the model has seen; `reported` says that
    the model knows of its end. `began` is monotonic."""

    id: str
    call_id: str
    command: str
    description: str
    running: Running
    path: str
    began: float
    told: int = 0
    reported: bool = False

    @property
    def words(self) -> str:
        """The command for people: its description, else its first line."""
        return self.description or self.command.strip().partition("\n")[0][:_WORDS]

    @property
    def status(self) -> Literal["running", "completed", "failed", "killed"]:
        code = self.running.exit_code
        if code is None:
            return "running"
        if self.running.killed:
            return "killed"
        return "completed" if code == 0 else "failed"


class ToolState:
    """`roots` are the working directories; the first is where the session started.

    A tool calls `before_change` with the canonical path before it changes or creates a file, so that a
    checkpoint can keep the file. `storage` is a directory for this session's task list; None keeps it in
    memory. `keeps_cwd` is off for subagents: each of their commands starts in the same directory. `jobs`
    gives the session's timed work; only its own conversation has any. `membership` is its place in a team.
    """

    def __init__(
        self,
        roots: tuple[str, ...],
        *,
        cwd: str | None = None,
        storage: str | None = None,
        before_change: Callable[[str], None] | None = None,
        keeps_cwd: bool = True,
    ) -> None:
        self.lock = threading.RLock()
        self.roots = tuple(os.path.realpath(root) for root in roots)
        self.cwd = cwd or self.roots[0]
        self.storage = storage
        self.before_change = before_change
        self.keeps_cwd = keeps_cwd
        self.todos: list[dict[str, Any]] = self._load("todos.json") or []
        self.shells: dict[str, Shell] = {}
        self.tasks: TaskList | None = None
        self.membership: Membership | None = None
        self.make_delegate: Callable[[], Delegate] | None = None
        self._delegate: Delegate | None = None
        self.jobs: LateJobs | None = None
        self.monitors: Monitors | None = None
        self.pages: dict[str, tuple[float, Any]] = {}
        self._seen: dict[str, Seen] = {}
        self.searches = 0
        self._shell_count = 0

    @property
    def delegate(self) -> Delegate | None:
        """Who starts subagents; None where there can be none. The first use makes it."""
        with self.lock:
            if self._delegate is None and self.make_delegate is not None:
                self._delegate = self.make_delegate()
            return self._delegate

    def standing(self) -> str:
        """What the model must not forget of work in the background."""
        shells = [f"- command {s.id}: {s.words}" for s in self.shells.values() if s.status == "running"]
        agents = self._delegate.standing() if self._delegate is not None else ""
        return "\n".join((*shells, *([agents] if agents else ())))

    def set_cwd(self, path: str) -> bool:
        """Make `path` the directory of later calls. Returns False and changes nothing when it does not exist
        or is outside the working directories."""
        real = os.path.realpath(path)
        if not is_within(real, self.roots) or not os.path.isdir(real):
            return False
        self.cwd = real
        return True

    def add_root(self, path: str) -> bool:
        """Add a working directory; False when it is already inside one. `path` is canonical."""
        with self.lock:
            if is_within(path, self.roots):
                return False
            self.roots = (*self.roots, path)
            return True

    def note_seen(self, path: str, data: bytes, view: View) -> None:
        with self.lock:
            self._seen[path] = Seen(digest(data), view)

    def seen(self, path: str) -> Seen | None:
        return self._seen.get(path)

    def forget(self, path: str) -> None:
        with self.lock:
            self._seen.pop(path, None)

    def changing(self, path: str) -> None:
        if self.before_change is not None:
            self.before_change(path)

    def store(self, name: str, value: Any) -> None:
        """Keep a value for a later resume."""
        if self.storage is None:
            return
        from checkrein.base.files import write_atomic

        os.makedirs(self.storage, mode=0o700, exist_ok=True)
        write_atomic(Path(self.storage, name), msgspec.json.encode(value), mode=0o600)

    def _load(self, name: str) -> Any:
        if self.storage is None:
            return None
        try:
            return msgspec.json.decode(Path(self.storage, name).read_bytes())
        except (OSError, msgspec.DecodeError):
            return None

    def add_shell(self, call_id: str, command: str, description: str, running: Running) -> Shell:
        """Remember a command in the background under a new id."""
        with self.lock:
            self._shell_count += 1
            name = f"bash_{self._shell_count}"
            assert running.path is not None
            shell = Shell(
                id=name,
                call_id=call_id,
                command=command,
                description=description,
                running=running,
                path=running.path,
                began=time.monotonic(),
            )
            self.shells[name] = shell
            return shell

    def finished_shells(self) -> list[Shell]:
        """Background shells that ended since the last call; each appears once."""
        with self.lock:
            ended = [s for s in self.shells.values() if not s.reported and s.status != "running"]
            for shell in ended:
                shell.reported = True
            return ended


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def is_within(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
