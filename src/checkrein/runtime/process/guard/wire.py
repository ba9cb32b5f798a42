"""Messages between the session and its warden: plain values in packets, with descriptors beside them.

Both ends run the same Python, so `marshal` fits. What is too large for a packet goes through a memory file.
"""

from __future__ import annotations

import _socket
import marshal
import os
import struct

from checkrein.runtime.process.guard import syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from typing import Any

GOODBYE = "goodbye"
"""In place of an order: the session has ended what it started, and comes to its end."""
_PACKET = 60_000
_BESIDE = _socket.CMSG_LEN(200 * 4)
"""Room for 200 descriptors."""


def pair() -> tuple[socket.socket, socket.socket]:
    import socket

    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(to: _socket.socket, message: Any, descriptors: Sequence[int] = (), flags: int = 0) -> None:
    """Raises OSError when the other end is gone."""
    data = marshal.dumps(message)
    if len(data) <= _PACKET:
        if descriptors:
            _send(to, b"." + data, descriptors, flags)
        else:
            to.send(b"." + data, flags)
        return
    file = os.memfd_create("message", os.MFD_CLOEXEC)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        _send(to, b"+", (*descriptors, file), flags)
    finally:
        os.close(file)


def receive(of: _socket.socket, flags: int = 0) -> tuple[Any, list[int]] | None:
    """The next message and its descriptors; None when the other end is gone."""
    try:
        data, beside, _, _ = of.recvmsg(_PACKET + 1, _BESIDE, flags | _socket.MSG_CMSG_CLOEXEC)
    except ConnectionError:
        return None
    descriptors = [one for _, _, rights in beside for (one,) in struct.iter_unpack("=i", rights)]
    if not data:
        return None
    if data[:1] == b".":
        return marshal.loads(data[1:]), descriptors  # noqa: S302  our own other end wrote it
    file = descriptors.pop()
    try:
        size = os.fstat(file).st_size
        return marshal.loads(os.pread(file, size, 0)), descriptors  # noqa: S302
    finally:
        os.close(file)


def _send(to: _socket.socket, data: bytes, descriptors: Sequence[int], flags: int) -> None:
    rights = struct.pack(f"={len(descriptors)}i", *descriptors)
    if syscalls.send_at_once(to.fileno(), data, rights, flags):
        return
    to.sendmsg([data], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)], flags)
