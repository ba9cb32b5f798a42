"""How a guarded command starts: a child of the warden gives up rights, gets a listener and becomes it."""

from __future__ import annotations

import errno
import fcntl
import marshal
import os
import select
import stat
import struct

from checkrein.runtime.process.guard import filters, order_form, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, NoReturn

    from checkrein.runtime.process.guard.effect_calls import Effects

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ANSWER = struct.Struct("=3i")
"""Of a child: an error or 0, its listener, its number."""
_LONGEST_BIRTH = 2.0
_ENDED = os.WEXITED | os.WNOHANG | os.WNOWAIT
_PIPE = 1 << 15
"""So much goes through an empty pipe at once."""
_SAMPLE = marshal.dumps(
    (
        {
            "cwd": ".",
            "path": "",
            "argv": ("-c", "-"),
            "env": {f"NAME_{one}": "value" * 9 for one in range(30)},
        },
        [0, 1, 2],
    )
)


class Fence:
    """What keeps a command out of the warden and of the session.

    Yama does it for ordinary users. Else it is a Landlock domain, or refused calls."""

    def __init__(self, kept: Iterable[int]) -> None:
        """`kept` are the processes that nobody may signal; the first is the warden."""
        kept = tuple(kept)
        self.warden = kept[0]
        self.ruleset = -1
        refused: tuple[str, ...] = filters.UNJUDGED
        if not _descendants_stay_out():
            if syscalls.landlock_version() >= 6:
                self.ruleset = syscalls.fence()
            else:
                refused += filters.INSIGHT
        self._refused = refused
        self._kept = filters.keep_from(kept)
        self.program = filters.program(filters.STARTS, refused, self._kept)

    def program_with(self, effects: Effects | None) -> bytes:
        """The filter for a command with other calls that are judged."""
        if effects is None:
            return self.program
        return filters.program(
            filters.STARTS, (*self._refused, *effects.refused), (*self._kept, *effects.steps)
        )


def _descendants_stay_out() -> bool:
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope") as file:
            return int(file.read()) >= 1 and os.geteuid() != 0
    except (OSError, ValueError):
        return False


class Spare:
    """A child that waits for its order. It is made ahead, because a fork is the slow part of a start.

    It shares the warden's descriptors until it has an order, so that it can take those that come with one.
    `listener` gets the notifications of all that it starts. `pipe` ends when the command has started; an
    error comes out of it when it has not."""

    def __init__(self, make: Callable[[int, int], None], *, is_compiled: bool = False) -> None:
        """`make` gets the child under way, with the ends of two pipes: its orders, and where it answers. A
        compiled one has its own form of orders."""
        self._orders, self._order = os.pipe()
        self.pipe, self._writing = os.pipe()
        self.pid = 0
        self.listener = -1
        self._failed = 0
        self._given: list[int] = []
        self._is_compiled = is_compiled
        self._text: bytes | None = None
        make(self._orders, self._writing)

    def is_ready(self, patience: float = _LONGEST_BIRTH) -> bool:
        """Waits for the child. False when there is none: somebody has killed it, or the nursery."""
        if not self.pid and select.select((self.pipe,), (), (), patience)[0]:
            self._failed, self.listener, self.pid = _ANSWER.unpack(os.read(self.pipe, _ANSWER.size))
        return bool(self.pid)

    @property
    def is_alive(self) -> bool:
        """Nobody has killed the child while it waited."""
        return self.is_ready() and os.waitid(os.P_PID, self.pid, _ENDED) is None

    def takes(self, order: Mapping[str, Any]) -> bool:
        """The child can do this order. Call it before `start`."""
        self._text = order_form.text_of(order) if self._is_compiled else None
        return not self._is_compiled or self._text is not None

    def start(self, order: dict[str, Any], descriptors: list[int]) -> None:
        """The child takes the descriptors; `let_go` closes them here. Raises OSError."""
        self._given = descriptors
        if not self.is_ready():
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        if self._failed:
            raise OSError(self._failed, os.strerror(self._failed))
        if self._text is not None:
            data = order_form.packed(order, self._text, descriptors)
        else:
            data = marshal.dumps((order, descriptors))
        if len(data) <= _PIPE:
            os.write(self._order, data)
            return
        file = os.memfd_create("order", os.MFD_CLOEXEC)
        self._given.append(file)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.write(self._order, marshal.dumps(file))

    def let_go(self) -> None:
        """The child has its own descriptors now, or is gone."""
        for descriptor in (*self._given, self._orders, self._order, self._writing):
            os.close(descriptor)
        self._given = []
        self._orders = self._order = self._writing = -1

    def discard(self, patience: float = _LONGEST_BIRTH) -> None:
        """It is not needed, or it failed."""
        self.is_ready(patience)
        self.close()
        end(self.pid)

    def close(self) -> None:
        """The child is gone, and nobody has used it."""
        for descriptor in (self.pipe, self._orders, self._order, self._writing, self.listener):
            if descriptor >= 0:
                os.close(descriptor)


def end(child: int) -> None:
    with syscalls.ignored:
        if child:
            os.kill(child, syscalls.SIGKILL)
            os.waitpid(child, 0)


def beside(work: Callable[[], None]) -> None:
    """Do something that may take long in a copy of the warden, which ends with it."""
    if os.fork():
        return
    try:
        work()
    finally:
        os._exit(0)


def failure(pipe: int) -> int:
    """The error of a start, 0 when the command has started. Never waits: a child of another order may hold
    the other end, and it may wait for the warden. A command that is over has said what it had to say."""
    os.set_blocking(pipe, False)
    try:
        said = os.read(pipe, _ANSWER.size)
    except BlockingIOError:
        return 0
    return int(_ANSWER.unpack(said)[0]) if said else 0


def end_with(parent: int) -> None:
    """This process ends when its parent does, or has."""
    syscalls.prctl(syscalls.PDEATHSIG, syscalls.SIGKILL)
    if os.getppid() != parent:
        os._exit(127)


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


def become(fence: Fence, program: bytes, hidden: Sequence[str], orders: int, writing: int) -> NoReturn:
    """In the child: from a copy of the warden to the command."""
    try:
        end_with(fence.warden)
        os.setsid()
        syscalls.usual_signals()
        if hidden:
            from checkrein.runtime.process.guard.hidden import hide

            hide(hidden)
        _rehearse()
        syscalls.prctl(syscalls.NO_NEW_PRIVILEGES, 1)
        if fence.ruleset >= 0:
            syscalls.restrict(fence.ruleset)
        listener = syscalls.filter_calls(program, listen=True)
        os.write(writing, _ANSWER.pack(0, listener, os.getpid()))
        given = marshal.loads(os.read(orders, _PIPE))  # noqa: S302  the warden wrote it
        syscalls.own_files()
        os.close(listener)
        if isinstance(given, int):
            given = marshal.loads(os.pread(given, os.fstat(given).st_size, 0))  # noqa: S302
        order, descriptors = given
        os.chdir(order["cwd"])
        _confine(order, descriptors)
        writing = _place(order["targets"], descriptors, writing)
        os.execve(order["path"], order["argv"], order["env"])  # noqa: S606
    except OSError as error:
        os.write(writing, _ANSWER.pack(error.errno or errno.EIO, -1, os.getpid()))
    finally:
        os._exit(127)


def _rehearse() -> None:
    """Do once what an order will need: the memory for it is this child's own by then, and no copy is on the
    way of a command."""
    order, _ = marshal.loads(_SAMPLE)  # noqa: S302  ours
    os.chdir(order["cwd"])
    with syscalls.ignored:
        os.execve(order["path"], order["argv"], order["env"])  # noqa: S606  no file has an empty path


def _confine(order: Mapping[str, Any], descriptors: list[int]) -> None:
    if order["capabilities"] is not None:
        syscalls.keep_capabilities(order["capabilities"])
    if order["has_ruleset"]:
        syscalls.restrict(descriptors[len(order["targets"])])
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
