"""The one place that starts processes.

Every child has its own session and process group, an Origin, and an end. When its time is over, on cancel,
and when the Spawner closes, its group gets SIGTERM and after a short grace SIGKILL. A mark in the environment
finds children that left their group. When the parent itself dies, a waiting shell (the guard) does the same
in its place.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkrein.base.errors import PolicyError
from checkrein.base.origin import Origin
from checkrein.runtime.process.child import MARK, Child, find_marked, guard_script, signal_all
from checkrein.runtime.process.command import GRACE, Command, Completed, Pipes, Running

if TYPE_CHECKING:
    import subprocess

    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.drain import Drain
    from checkrein.runtime.process.live import Live

__all__ = ["Command", "Completed", "Pipes", "Running", "Spawner", "probe", "shell_argv"]

_TICK = 0.2
_LINGER = 0.05
_NOTHING_STARTS = 127


class Spawner:
    """Starts the processes of one session. `trusts` says whether anything from an origin may run.

    Safe to use from several threads. After `close()` nothing can start, and everything started has ended.
    """

    def __init__(self, trusts: Callable[[Origin], bool]) -> None:
        self._trusts = trusts
        self._lock = threading.Lock()
        self._children: set[Child] = set()
        self._live: set[Live] = set()
        self._guard: subprocess.Popen[bytes] | None = None
        self._drain: Drain | None = None
        self._closed = False
        above = os.environ.get(MARK)
        own = os.urandom(12).hex()
        self._mark = f"{above}:{own}" if above else own

    def run(self, command: Command, cancel: Cancel, *, keep: bool = False) -> Completed:
        """Run to the end, the time limit or the cancellation. With `keep`, a command that reaches its limit
        goes on in the background with its output in `spill`."""
        began = time.monotonic()
        try:
            child = self._launch(command)
        except OSError as error:
            return Completed(exit_code=_NOTHING_STARTS, stderr=_why(command, error), started=False)
        deadline = None if command.timeout is None else began + command.timeout
        timed_out = False
        try:
            with cancel.on_cancel(lambda: child.stop(cancel.grace), child.kill_now):
                while child.step(_until(deadline, child)):
                    if _is_late(deadline, child):
                        timed_out = True
                        if keep:
                            return self._kept(child, command, began)
                        child.stop(GRACE)
        except BaseException:
            self._forget(child)
            child.abandon()
            raise
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
        from checkrein.runtime.process.live import Live

        if command.stdin:
            raise ValueError("an open process gets its input through `write`")
        self._admit(command)
        process, into, out, err = _begin(command, self._mark, takes_input=True)
        said = None if command.merge_stderr else Capture(command.limit)
        child = Child(process, Capture(0), -1, said, err, -1, b"")
        if command.timeout is not None:
            child.deadline = time.monotonic() + command.timeout
        live = Live(child, command, into, out, self._let_go)
        with self._lock:
            self._live.add(live)
        self._enlist(child)
        self._background().adopt(child)
        return live

    def close(self, grace: float = GRACE) -> None:
        """Stop everything: SIGTERM first, after `grace` seconds SIGKILL. Returns when it is gone."""
        with self._lock:
            self._closed = True
            children = list(self._children)
            live, self._live = self._live, set()
            drain, self._drain = self._drain, None
            guard, self._guard = self._guard, None
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
        if guard is not None:
            self._sweep(grace)
            guard.kill()
            guard.wait()
            if guard.stdin:
                guard.stdin.close()

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
        self._admit(command)
        child = _start_child(command, self._mark, through)
        self._enlist(child)
        return child

    def _admit(self, command: Command) -> None:
        """Raise PolicyError when the command may not start. Starts the guard that ends it."""
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
        self._stand_guard()

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

    def _kept(self, child: Child, command: Command, began: float) -> Completed:
        child.out.spill_from_here()
        self._background().adopt(child)
        return Completed(
            exit_code=0,
            stdout=child.out.head,
            tail=child.out.tail,
            size=child.out.size,
            spill=child.out.path,
            timed_out=True,
            duration_ms=int((time.monotonic() - began) * 1000),
            running=Running(child, command),
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

    def _stand_guard(self) -> None:
        with self._lock:
            if self._guard is not None or not os.path.isdir("/proc/self"):
                return
            import subprocess

            self._guard = subprocess.Popen(  # noqa: S603  a fixed program
                ("/bin/sh", "-c", guard_script(self._mark)),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath},
                cwd="/",
                start_new_session=True,
            )

    def _sweep(self, grace: float) -> None:
        """End what left its group: first SIGTERM, then SIGKILL until nothing carries the mark."""
        escaped = find_marked(self._mark)
        if not escaped:
            return
        signal_all(escaped, 15)
        limit = time.monotonic() + grace
        while (escaped := find_marked(self._mark)) and time.monotonic() < limit:
            time.sleep(0.02)
        limit = time.monotonic() + GRACE
        while escaped and time.monotonic() < limit:
            signal_all(escaped, 9)
            time.sleep(0.01)
            escaped = find_marked(self._mark)


def _start_child(command: Command, mark: str, through: bool) -> Child:
    """Start the process of a command. Raises OSError when the program or the directory does not exist."""
    from checkrein.runtime.process.capture import Capture

    kept = Capture(command.limit, command.spill, through)
    try:
        process, into, out, err = _begin(command, mark, takes_input=bool(command.stdin))
    except BaseException:
        kept.close()
        if kept.path:
            with contextlib.suppress(OSError):
                os.unlink(kept.path)
        raise
    said = None if command.merge_stderr else Capture(command.limit)
    return Child(process, kept, out, said, err, into, command.stdin)


def _begin(
    command: Command, mark: str, *, takes_input: bool
) -> tuple[subprocess.Popen[bytes], int, int, int]:
    """A started process, and our ends of its input, output and errors; -1 for one that it does not have."""
    import subprocess

    argv = shell_argv(command.argv) if isinstance(command.argv, str) else command.argv
    env = {**command.env, MARK: mark}
    pass_fds = command.pass_fds
    prepared = None
    if command.sandbox is not None:
        from checkrein.runtime.process.sandbox import wrap

        prepared = wrap(argv, command.cwd, command.sandbox)
        argv = prepared.argv
        pass_fds += prepared.pass_fds
    pipes: list[int] = []

    def pipe() -> tuple[int, int]:
        ends = os.pipe()
        pipes.extend(ends)
        return ends

    try:
        out_read, out_write = pipe()
        err_read, err_write = (-1, out_write) if command.merge_stderr else pipe()
        in_read, in_write = pipe() if takes_input else (-1, -1)
        if not takes_input:
            in_read = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            pipes.append(in_read)

        def begin() -> subprocess.Popen[bytes]:
            return subprocess.Popen(  # noqa: S603  the gate has approved it
                argv,
                stdin=in_read,
                stdout=out_write,
                stderr=err_write,
                cwd=command.cwd,
                env=env,
                pass_fds=pass_fds,
                start_new_session=True,
            )

        confine = prepared.confine if prepared is not None else None
        process = begin() if confine is None else _confined(confine, begin)
    except BaseException:
        for end in pipes:
            os.close(end)
        raise
    finally:
        if prepared is not None:
            prepared.close()
    for end in {out_write, err_write, in_read}:
        os.close(end)
    return process, in_write, out_read, err_read


def _confined(
    confine: Callable[[], None], begin: Callable[[], subprocess.Popen[bytes]]
) -> subprocess.Popen[bytes]:
    """Start a process from a thread that has given up rights; the process inherits what is left."""
    made: list[subprocess.Popen[bytes] | BaseException] = []

    def work() -> None:
        try:
            confine()
            made.append(begin())
        except BaseException as error:  # the waiting thread raises it
            made.append(error)

    thread = threading.Thread(target=work, name="checkrein-confined")
    thread.start()
    thread.join()
    if isinstance(made[0], BaseException):
        raise made[0]
    return made[0]


def probe(argv: tuple[str, ...], timeout: float = 5.0) -> bytes | None:
    """The output of a program of this machine, to learn whether and how it works; None when it fails.

    For the sandbox and for `checkrein doctor`: never for anything that a project names."""
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603  only names that are in our own code come here
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
            cwd="/",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def shell_argv(text: str) -> tuple[str, ...]:
    """The Bash tool's shell: no start-up files, no profile. The environment must be free of BASH_ENV too."""
    return ("bash", "--noprofile", "--norc", "-c", text)


def _until(deadline: float | None, child: Child) -> float:
    if child.exit_code is not None:
        return _LINGER
    if deadline is None:
        return _TICK
    return max(0.0, min(_TICK, deadline - time.monotonic()))


def _is_late(deadline: float | None, child: Child) -> bool:
    running = child.exit_code is None and child.stopping is None
    return running and deadline is not None and time.monotonic() >= deadline


def _why(command: Command, error: OSError) -> bytes:
    program = "bash" if isinstance(command.argv, str) else command.argv[0]
    if not os.path.isdir(command.cwd):
        return f"The working directory {command.cwd} does not exist.".encode()
    return f"{program} could not be started: {error.strerror or error}".encode()
