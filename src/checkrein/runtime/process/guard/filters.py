"""Filters for system calls, as data: which calls are notified and which are refused.

A `Calls` names them; `program` makes the classic BPF program for this machine.
"""

from __future__ import annotations

import errno
import os
import struct

from checkrein.runtime.process.guard import file_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "execve": 59,
        "execveat": 322,
        "ptrace": 101,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "pidfd_getfd": 438,
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "kill": 62,
        "tkill": 200,
        "tgkill": 234,
        "rt_sigqueueinfo": 129,
        "rt_tgsigqueueinfo": 297,
        "pidfd_open": 434,
        "prlimit64": 302,
    },
    "aarch64": {
        "execve": 221,
        "execveat": 281,
        "ptrace": 117,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "pidfd_getfd": 438,
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "kill": 129,
        "tkill": 130,
        "tgkill": 131,
        "rt_sigqueueinfo": 138,
        "rt_tgsigqueueinfo": 240,
        "pidfd_open": 434,
        "prlimit64": 261,
    },
}
STARTS = ("execve", "execveat")
UNJUDGED = ("io_uring_setup", "io_uring_enter", "io_uring_register")
"""They do the work of other calls without them."""
INSIGHT = ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd")
"""With them a process takes over another one, or its descriptors."""
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "prlimit64")
"""With them a process ends, stops or chokes another one, by the number in their first argument."""

_X32 = 0x4000_0000
_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
ALLOW, NOTIFY = 0x7FFF0000, 0x7FC00000
_REFUSE, _KILL = 0x00050000, 0x80000000

Step = tuple[int, int, int, int]
"""Code, how many steps to skip if true, if false, and a value."""


def is_known_machine() -> bool:
    return os.uname().machine in _ARCHITECTURES


def number(name: str) -> int:
    return NUMBERS[os.uname().machine][name]


def refuse(error: int) -> int:
    return _REFUSE | error


def give(action: int) -> Step:
    """The end: what happens to the call."""
    return (_RETURN, 0, 0, action)


def load(argument: int) -> list[Step]:
    """The lower half of an argument: what the kernel looks at for flags and kinds."""
    return [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument)]


def mask(bits: int) -> Step:
    return (_AND, 0, 0, bits)


def if_equal(value: int, steps: list[Step]) -> list[Step]:
    """`steps` must end with `give`."""
    return [(_EQUAL, 0, len(steps), value), *steps]


def decide(number: int, steps: list[Step]) -> list[Step]:
    """What happens to one call. `steps` must end with `give`."""
    return if_equal(number, steps)


def always(number: int, action: int) -> list[Step]:
    return decide(number, [give(action)])


def if_set(number: int, argument: int, bits: int, action: int, other: int) -> list[Step]:
    """One action when an argument has any of these bits, else another."""
    return decide(number, [*load(argument), (_ANY_OF, 0, 1, bits), give(action), give(other)])


def keep_from(processes: Iterable[int]) -> list[Step]:
    """Nobody signals these processes by their numbers, nor their groups, nor everybody at once."""
    numbers = NUMBERS[os.uname().machine]
    refused = [give(refuse(errno.EPERM))]
    steps: list[Step] = []
    whom = [one & 0xFFFF_FFFF for pid in processes for one in (pid, -pid)]
    for name in SIGNALS:
        given = [step for pid in whom for step in if_equal(pid, refused)]
        everybody = if_equal(0xFFFF_FFFF, refused) if name == "kill" else []
        steps += decide(numbers[name], [*load(0), *given, *everybody, give(ALLOW)])
    return steps


def program(notified: Iterable[str], refused: Iterable[str], more: Iterable[Step] = ()) -> bytes:
    """Notifies and refuses these calls, kills on calls of other architectures, allows the rest. `more` are
    steps that begin with the number of the call and leave it where they decide nothing."""
    machine = os.uname().machine
    numbers = NUMBERS[machine] | file_calls.NUMBERS[machine]
    steps: list[Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _REFUSE | errno.EPERM)]
    for name in notified:
        steps += [(_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, NOTIFY)]
    for name in refused:
        steps += [(_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, _REFUSE | errno.EPERM)]
    steps += more
    steps.append((_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
