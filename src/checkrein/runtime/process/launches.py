"""How processes start: an ordinary one, a confined one, a guarded one, a helper of our own.

No other module of the session starts a process. (The warden starts guarded ones: `guard.launcher`.)
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from checkrein.runtime.process.child import MARK, Child, Process
from checkrein.runtime.process.command import Command

if TYPE_CHECKING:
    import subprocess

    from checkrein.runtime.process.around import Around
    from checkrein.runtime.process.guard.client import Warden
    from checkrein.runtime.process.guard.guard import Refusal
    from checkrein.runtime.process.sandbox import Bounds, Prepared


class Plain:
    """A process of `subprocess`."""

    held = 0.0
    refusals: Sequence[Refusal] = ()
    powerless: Sequence[str] = ()

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.descriptor = -1
        self._process = process
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                self.descriptor = os.pidfd_open(process.pid)

    def notice(self) -> bool:
        self.close()
        return True

    def wait(self) -> int:
        return self._process.wait()

    def poll(self) -> int | None:
        return self._process.poll()

    def signal(self, number: int) -> None:
        os.killpg(self._process.pid, number)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def start_child(command: Command, mark: str, warden: Warden | None, through: bool) -> Child:
    """Start the process of a command. Raises OSError when the program or the directory does not exist; a
    guarded one may say so later (NotStartedError) unless it goes `through` to the background."""
    from checkrein.runtime.process.capture import Capture

    kept = Capture(command.limit, command.spill, through, command.filter, command.spill_limit)
    try:
        around = surrounded(command)
        process, into, out, err = begin(
            command, mark, warden, takes_input=bool(command.stdin), around=around, awaited=through
        )
    except BaseException:
        kept.close()
        if kept.path:
            with contextlib.suppress(OSError):
                os.unlink(kept.path)
        raise
    said = None if command.merge_stderr else Capture(command.limit)
    child = Child(process, kept, out, said, err, into, command.stdin)
    child.around = around
    return child


def surrounded(command: Command) -> Around | None:
    """What must be there while the command runs; None if it needs nothing."""
    reads = command.sandbox is not None and command.sandbox.only_reads
    if command.protect is None and command.lease is None and not reads:
        return None
    from checkrein.runtime.process.around import Around

    return Around(command)


def begin(
    command: Command,
    mark: str,
    warden: Warden | None,
    *,
    takes_input: bool,
    around: Around | None,
    awaited: bool = True,
) -> tuple[Process, int, int, int]:
    """A started process, and our ends of its input, output and errors; -1 for one that it does not have.
    Closes what is `around` the command when it can't start. A guarded one that is not `awaited` may still be
    on its way."""
    if around is not None:
        command = around.command
    argv = shell_argv(command.argv) if isinstance(command.argv, str) else command.argv
    prepared = None
    pipes: list[int] = []

    def pipe() -> tuple[int, int]:
        ends = os.pipe()
        pipes.extend(ends)
        return ends

    try:
        if command.sandbox is not None:
            from checkrein.runtime.process.sandbox import wrap

            prepared = wrap(argv, command.cwd, command.sandbox, guarded=warden is not None)
        out_read, out_write = pipe()
        err_read, err_write = (-1, out_write) if command.merge_stderr else pipe()
        in_read, in_write = pipe() if takes_input else (-1, -1)
        if not takes_input:
            in_read = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            pipes.append(in_read)
        streams = (in_read, out_write, err_write)
        env = {**command.env, MARK: mark}
        if warden is None:
            process: Process = _plain(command, argv, env, streams, prepared)
        else:
            process = _guarded(command, argv, env, streams, prepared, warden, awaited)
    except BaseException:
        for end in pipes:
            os.close(end)
        if around is not None:
            around.close()
        raise
    finally:
        if prepared is not None:
            prepared.close()
    for end in {out_write, err_write, in_read}:
        os.close(end)
    return process, in_write, out_read, err_read


def _plain(
    command: Command,
    argv: Sequence[str],
    env: Mapping[str, str],
    streams: tuple[int, int, int],
    prepared: Prepared | None,
) -> Plain:
    import subprocess

    stdin, stdout, stderr = streams
    pass_fds = command.pass_fds
    if prepared is not None:
        argv, pass_fds = prepared.argv, pass_fds + prepared.pass_fds

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  the gate has approved it
            argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=command.cwd,
            env=env,
            pass_fds=pass_fds,
            start_new_session=True,
        )

    if prepared is None or prepared.bounds is None:
        return Plain(start())
    return Plain(_confined(prepared.bounds, start))


def _guarded(
    command: Command,
    argv: Sequence[str],
    env: Mapping[str, str],
    streams: tuple[int, int, int],
    prepared: Prepared | None,
    warden: Warden,
    awaited: bool,
) -> Process:
    from checkrein.runtime.process.guard.client import Order
    from checkrein.runtime.process.sandbox.bounds import NO_BOUNDS

    assert command.guard is not None
    order = Order(
        argv=argv if prepared is None else prepared.argv,
        cwd=command.cwd,
        env=env,
        streams=streams,
        pass_fds=command.pass_fds + (() if prepared is None else prepared.pass_fds),
        bounds=prepared.bounds if prepared is not None and prepared.bounds is not None else NO_BOUNDS,
    )
    return warden.start(order, command.guard, awaited)


def _confined(bounds: Bounds, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start a process from a thread that has given up rights; the process inherits what is left."""
    from checkrein.runtime.process.sandbox.landlock import apply

    made: list[subprocess.Popen[bytes] | BaseException] = []

    def work() -> None:
        try:
            apply(bounds)
            made.append(start())
        except BaseException as error:  # the waiting thread raises it
            made.append(error)

    thread = threading.Thread(target=work, name="checkrein-confined")
    thread.start()
    thread.join()
    if isinstance(made[0], BaseException):
        raise made[0]
    return made[0]


def attached(command: Command, mark: str) -> int:
    """Run a program on our own terminal until it ends. Signals of the keyboard reach it by themselves."""
    import signal
    import subprocess

    argv = shell_argv(command.argv) if isinstance(command.argv, str) else command.argv
    ours = signal.getsignal(signal.SIGINT)
    try:
        started = subprocess.Popen(  # noqa: S603  the user has asked for it
            argv,
            cwd=command.cwd,
            env={**command.env, MARK: mark},
        )
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return started.wait()
    finally:
        signal.signal(signal.SIGINT, ours)


def start_helper(
    argv: Sequence[str], descriptor: int = -1, *, piped: bool = False
) -> subprocess.Popen[bytes]:
    """A process of our own beside the session, with one descriptor that stays open in it, or with a pipe as
    its input, or (`piped`) both."""
    import subprocess

    return subprocess.Popen(  # noqa: S603  only our own code comes here
        argv,
        stdin=subprocess.PIPE if descriptor < 0 or piped else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath},
        cwd="/",
        pass_fds=() if descriptor < 0 else (descriptor,),
        start_new_session=True,
    )


def shell_argv(text: str) -> tuple[str, ...]:
    """The Bash tool's shell: no start-up files, no profile. The environment must be free of BASH_ENV too."""
    return ("bash", "--noprofile", "--norc", "-c", text)
