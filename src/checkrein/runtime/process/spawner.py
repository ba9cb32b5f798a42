"""The one place that starts processes.

Every child has its own session and process group, an Origin, and an end. When its time is over, on cancel,
and when the Spawner closes, its group gets SIGTERM and after a short grace SIGKILL. `custody` ends children
that left their group, and all of them when the parent itself dies.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkrein.base.errors import CheckreinError, PolicyError
from checkrein.base.origin import Origin
from checkrein.facts.models_providers import CREDENTIALS
from checkrein.runtime.process.child import MARK, Child, NotStartedError
from checkrein.runtime.process.command import GRACE, Command, Completed, Pipes, Running
from checkrein.runtime.process.custody import Custody

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.drain import Drain
    from checkrein.runtime.process.guard.client import Warden
    from checkrein.runtime.process.live import Live

__all__ = ["Command", "Completed", "Pipes", "Running", "Spawner"]

_TICK = 0.2
_SOON = 0.03
_LINGER = 0.05
_NOTHING_STARTS = 127


class Spawner:
    """Starts the processes of one session. `trusts` says whether anything from an origin may run. No child
    gets the variables of `withheld`, whatever its command says. The guard may be `compiled`.

    Safe to use from several threads. After `close()` nothing can start, and everything started has ended.
    """

    def __init__(
        self,
        trusts: Callable[[Origin], bool],
        withheld: frozenset[str] = CREDENTIALS,
        *,
        compiled: bool = True,
    ) -> None:
        self._trusts = trusts
        self._withheld = withheld
        self._lock = threading.Lock()
        self._children: set[Child] = set()
        self._live: set[Live] = set()
        self._drain: Drain | None = None
        self._closed = False
        above = os.environ.get(MARK)
        own = os.urandom(12).hex()
        self._mark = f"{above}:{own}" if above else own
        self._custody = Custody(self._mark, compiled)

    def run(
        self, command: Command, cancel: Cancel, *, keep: bool = False, releasable: bool = False
    ) -> Completed:
        """Run to the end, the time limit or the cancellation. With `keep`, a command that reaches its limit
        goes on in the background with its output in `spill`. A `releasable` one does so when the person wants
        it (`let_go`)."""
        from checkrein.runtime.process.attention import ATTENTION

        with ATTENTION:
            return self._run(command, cancel, keep, releasable)

    def _run(self, command: Command, cancel: Cancel, keep: bool, releasable: bool) -> Completed:
        began = time.monotonic()
        try:
            child = self._launch(command)
        except OSError as error:
            return _not_started(command, error)
        deadline = None if command.timeout is None else began + command.timeout
        timed_out = False
        try:
            with cancel.on_cancel(lambda: child.stop(cancel.grace), child.kill_now):
                child.releasable = command if releasable else None
                while child.step(_until(deadline, child)):
                    if child.let_go and child.exit_code is None:
                        return self._kept(child, command, began, timed_out=False)
                    if _is_late(deadline, child):
                        timed_out = True
                        if keep:
                            return self._kept(child, command, began)
                        child.stop(GRACE)
        except NotStartedError as error:
            self._forget(child)
            child.abandon()
            return _not_started(command, error)
        except BaseException:
            self._forget(child)
            child.abandon()
            raise
        restored = child.around.restored(over=not child.has_open_pipes) if child.around is not None else ()
        self._settle(child)
        return Completed(
            exit_code=child.exit_code or 0,
            stdout=child.out.head,
            stderr=child.err.head if child.err else b"",
            tail=child.out.tail,
            size=child.out.size,
            spill=child.out.path,
            timed_out=timed_out,
            cancelled=cancel.cancelled,
            duration_ms=int((time.monotonic() - began) * 1000),
            refused=child.refused,
            powerless=child.powerless,
            restored=restored,
        )

    def start(self, command: Command) -> Running:
        """Start in the background. The time limit of the command holds there too."""
        if command.spill is None:
            raise ValueError("a background command needs a file for its output")
        child = self._launch(command, through=True)
        if command.timeout is not None:
            child.deadline = time.monotonic() + command.timeout
        self._background().adopt(child)
        return Running(child, command)

    def open(self, command: Command) -> Pipes:
        """Start a process with live pipes. Keeps its standard error, up to the limit of the command. Raises
        OSError when the program or the directory does not exist."""
        from checkrein.runtime.process.capture import Capture
        from checkrein.runtime.process.launches import begin, surrounded
        from checkrein.runtime.process.live import Live

        if command.stdin:
            raise ValueError("an open process gets its input through `write`")
        warden = self._admit(command)
        command = command.without(self._withheld)
        around = surrounded(command)
        process, into, out, err = begin(command, self._mark, warden, takes_input=True, around=around)
        said = None if command.merge_stderr else Capture(command.limit)
        child = Child(process, Capture(0), -1, said, err, -1, b"")
        child.around = around
        if command.timeout is not None:
            child.deadline = time.monotonic() + command.timeout
        live = Live(child, command, into, out, self._let_go)
        with self._lock:
            self._live.add(live)
        self._enlist(child)
        self._background().adopt(child)
        return live

    def attach(self, command: Command) -> int:
        """Run a program on our own terminal, with its input and output, and return its exit status. Raises
        OSError when the program or the directory does not exist."""
        from checkrein.runtime.process.launches import attached

        self._admit(command)
        status = attached(command.without(self._withheld), self._mark)
        return status if status >= 0 else 128 - status

    def prepare_guard(self, more: Callable[[], object]) -> Callable[[], None]:
        """Start the warden in a moment, beside whatever the session waits for then, so that it is ready when
        the first guarded command comes; do `more` after that. The returned function says that a command
        comes now: it starts the warden at once and leaves out the rest."""
        comes = threading.Event()

        def stand() -> None:
            with contextlib.suppress(CheckreinError, OSError):
                self._custody.warden()

        def prepare() -> None:
            if comes.wait(_SOON):
                return
            stand()
            if not comes.is_set() and not self._closed:
                more()

        def come() -> None:
            comes.set()
            # here: two threads that import take the interpreter's lock from each other for 5 ms each time
            stand()

        threading.Thread(target=prepare, name="checkrein-prepare", daemon=True).start()
        return come

    def close(self, grace: float = GRACE) -> None:
        """Stop everything: SIGTERM first, after `grace` seconds SIGKILL. Returns when it is gone."""
        with self._lock:
            self._closed = True
            children = list(self._children)
            live, self._live = self._live, set()
            drain, self._drain = self._drain, None
        for child in children:
            child.stop(grace)
        limit = time.monotonic() + grace + 0.5 * GRACE
        for child in children:
            if not child.ended.wait(max(0.0, limit - time.monotonic())):
                child.kill_now()
        if drain is not None:
            drain.close()
        for one in live:
            one.release()
        self._custody.close(grace)

    def kill(self) -> None:
        """Kill everything at once, without waiting: the process is about to exit."""
        with self._lock:
            self._closed = True
            children = list(self._children)
        for child in children:
            child.kill_now()

    def __enter__(self) -> Spawner:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _launch(self, command: Command, through: bool = False) -> Child:
        from checkrein.runtime.process.launches import start_child

        warden = self._admit(command)
        child = start_child(command.without(self._withheld), self._mark, warden, through)
        self._enlist(child)
        return child

    def _admit(self, command: Command) -> Warden | None:
        """Raise PolicyError when the command may not start. Gives the warden that a guarded one needs."""
        if not self._trusts(command.origin):
            raise PolicyError(
                f"{command.purpose} was not started: {command.origin} is not trusted.",
                kind="untrusted_origin",
                hint="Look at the project, then run `checkrein trust` in it.",
                origin=command.origin,
            )
        if self._closed:
            raise PolicyError(
                f"{command.purpose} was not started: the session has ended.", kind="session_ended"
            )
        return self._custody.stand(command)

    def _enlist(self, child: Child) -> None:
        with self._lock:
            self._children.add(child)
            late = self._closed
        if late:
            child.kill_now()

    def _settle(self, child: Child) -> None:
        """The command is over. Processes that it left running keep the pipe, so that they can still write."""
        with self._lock:
            self._children.discard(child)
        child.out.close()
        child.ended.set()
        if child.has_open_pipes and not self._closed:
            self._background().adopt(child)
        else:
            child.close()

    def at_work(self) -> tuple[Running, ...]:
        """The commands that run in the foreground and may go on in the background. For any thread."""
        with self._lock:
            children = tuple(self._children)
        return tuple(
            Running(child, child.releasable)
            for child in children
            if child.releasable is not None and not child.let_go and child.exit_code is None
        )

    def let_go(self) -> bool:
        """Let these commands go on in the background; False when there are none. For any thread."""
        found = self.at_work()
        for running in found:
            running.let_go()
        return bool(found)

    def _kept(self, child: Child, command: Command, began: float, *, timed_out: bool = True) -> Completed:
        child.let_go = True
        child.out.spill_from_here()
        self._background().adopt(child)
        return Completed(
            exit_code=0,
            stdout=child.out.head,
            tail=child.out.tail,
            size=child.out.size,
            spill=child.out.path,
            timed_out=timed_out,
            duration_ms=int((time.monotonic() - began) * 1000),
            running=Running(child, command),
            refused=child.refused,
            powerless=child.powerless,
        )

    def _background(self) -> Drain:
        from checkrein.runtime.process.drain import Drain

        with self._lock:
            if self._drain is None:
                self._drain = Drain(self._forget)
            return self._drain

    def _forget(self, child: Child) -> None:
        with self._lock:
            self._children.discard(child)

    def _let_go(self, live: Live) -> None:
        with self._lock:
            self._live.discard(live)


def _until(deadline: float | None, child: Child) -> float:
    if child.exit_code is not None:
        return _LINGER
    if deadline is None:
        return _TICK
    return max(0.0, min(_TICK, deadline + child.held - time.monotonic()))


def _is_late(deadline: float | None, child: Child) -> bool:
    running = child.exit_code is None and child.stopping is None
    return running and deadline is not None and time.monotonic() >= deadline + child.held


def _not_started(command: Command, error: OSError) -> Completed:
    return Completed(exit_code=_NOTHING_STARTS, stderr=_why(command, error), started=False)


def _why(command: Command, error: OSError) -> bytes:
    program = "bash" if isinstance(command.argv, str) else command.argv[0]
    if not os.path.isdir(command.cwd):
        return f"The working directory {command.cwd} does not exist.".encode()
    return f"{program} could not be started: {error.strerror or error}".encode()
