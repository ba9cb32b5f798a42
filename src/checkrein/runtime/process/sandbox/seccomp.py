"""A filter for system calls: which sockets a command may open, and what it may change without opening a file.

It is a classic BPF program, the same for bubblewrap (`--seccomp`) and for Landlock. io_uring is switched off,
because it opens sockets without the system call, and so are system calls of other architectures.
"""

from __future__ import annotations

import errno
import platform
import struct

from msgspec import Struct

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16


class _Machine(Struct, frozen=True):
    """The audit architecture, and numbers of system calls. `changes` change a file's mode, owner, times or
    attributes."""

    architecture: int
    socket: int
    ioctl: int
    changes: tuple[int, ...]


_EVERYWHERE = (452, 463, 466, 469)
"""fchmodat2, setxattrat, removexattrat, file_setattr."""
_MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        41,
        16,
        (*range(90, 95), 132, *range(188, 191), *range(197, 200), 235, 260, 261, 268, 280, *_EVERYWHERE),
    ),
    "aarch64": _Machine(
        0xC00000B7, 198, 29, (*range(5, 8), *range(14, 17), *range(52, 56), 88, *_EVERYWHERE)
    ),
}
_IOCTLS = (0x40086602, 0x40046602, 0x401C5820, 0x5412)
"""They set attributes of a file that is open for reading, or put input into a terminal."""
_IO_URING_SETUP = 425
_X32 = 0x4000_0000

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000
_Step = tuple[int, int, int, int]


def program(*, network: bool, unix_sockets: bool, changes: bool = True) -> bytes | None:
    """The filter, or None when there is nothing to refuse or the machine is unknown. Without `changes` the
    modes, owners, times and attributes of files stay as they are."""
    known = _MACHINES.get(platform.machine())
    if known is None or (network and unix_sockets and changes):
        return None
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, known.architecture),
        (_RETURN, 0, 0, _REFUSE | errno.EPERM),
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, 1, _IO_URING_SETUP),
        (_RETURN, 0, 0, _REFUSE | errno.EPERM),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE | errno.EPERM),
    ]
    if not changes:
        for number in known.changes:
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE | errno.EROFS)]
        steps += _among(known.ioctl, _SECOND_ARGUMENT, _IOCTLS, refuse=True)
    if not (network and unix_sockets):
        families = [_NETLINK]
        if network:
            families += [_INET, _INET6]
        if unix_sockets:
            families.append(_UNIX)
        steps += _among(known.socket, _FIRST_ARGUMENT, tuple(families), refuse=False)
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _among(call: int, argument: int, values: tuple[int, ...], *, refuse: bool) -> list[_Step]:
    """Decide a call by an argument: refuse it for these values alone, or for all others."""
    listed, other = (_REFUSE | errno.EACCES, _ALLOW) if refuse else (_ALLOW, _REFUSE | errno.EACCES)
    steps: list[_Step] = [(_LOAD, 0, 0, argument)]
    for value in values:
        steps += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, listed)]
    steps.append((_RETURN, 0, 0, other))
    return [(_EQUAL, 0, len(steps), call), *steps]


def is_known_machine() -> bool:
    return platform.machine() in _MACHINES
