"""A filter for socket(2): which kinds of sockets a command may open.

It is a classic BPF program, the same for bubblewrap (`--seccomp`) and for Landlock. io_uring is switched off,
because it opens sockets without the system call, and so are system calls of other architectures.
"""

from __future__ import annotations

import errno
import platform
import struct

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""Audit architecture and the number of socket(2)."""
_IO_URING_SETUP = 425
_X32 = 0x4000_0000

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000


def program(*, network: bool, unix_sockets: bool) -> bytes | None:
    """The filter, or None when there is nothing to refuse or the machine is unknown."""
    known = _MACHINES.get(platform.machine())
    if known is None or (network and unix_sockets):
        return None
    architecture, socket_call = known
    families = [_NETLINK]
    if network:
        families += [_INET, _INET6]
    if unix_sockets:
        families.append(_UNIX)
    steps: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE | errno.EPERM),
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, 1, _IO_URING_SETUP),
        (_RETURN, 0, 0, _REFUSE | errno.EPERM),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE | errno.EPERM),
        (_EQUAL, 1, 0, socket_call),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
    ]
    for family in families:
        steps += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    steps.append((_RETURN, 0, 0, _REFUSE | errno.EACCES))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def is_known_machine() -> bool:
    return platform.machine() in _MACHINES
