"""The kernel's notifications: a call that waits for an answer, and the answers."""

from __future__ import annotations

import errno
import fcntl
import struct

from checkrein.runtime.process.guard.syscalls import ignored

_RECEIVE, _SEND, _IS_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_CALL = struct.Struct("=QIIiIQ6Q")
_ID = struct.Struct("=Q")
_ANSWER = struct.Struct("=QqiI")
_GIVE = struct.Struct("=Q4I")
_ADD, _GIVE_AND_ANSWER = 0x40182103, 2
_CONTINUE = 1


def prefer_one_core(listener: int) -> None:
    """The caller sleeps while it waits: its core is free for the warden. Kernel 6.6 and later."""
    with ignored:
        fcntl.ioctl(listener, _SET_FLAGS, 1)


def receive(listener: int) -> Notification:
    """Take the next one. Raises OSError when the caller is gone."""
    buffer = bytearray(_CALL.size)
    fcntl.ioctl(listener, _RECEIVE, buffer, True)
    return Notification(listener, buffer)


class Notification:
    """One call of one thread. `pid` is the thread's number."""

    __slots__ = ("arguments", "id", "listener", "number", "pid")

    def __init__(self, listener: int, received: bytes | bytearray) -> None:
        call = _CALL.unpack(received)
        self.id, self.pid, _, self.number = call[:4]
        self.arguments: tuple[int, ...] = call[6:]
        self.listener = listener

    @property
    def is_valid(self) -> bool:
        """The caller still waits: what was read from its memory was its own."""
        try:
            fcntl.ioctl(self.listener, _IS_VALID, _ID.pack(self.id))
        except OSError:
            return False
        return True

    def proceed(self) -> bool:
        """Let the kernel do the call. False when the caller is gone."""
        return self._answer(0, _CONTINUE)

    def refuse(self, number: int) -> bool:
        return self._answer(-number, 0)

    def succeed(self, value: int = 0) -> bool:
        """The warden has done the call itself."""
        return self._answer(0, 0, value)

    def give(self, descriptor: int, flags: int) -> None:
        """The result is a copy of an open file. Kernels before 5.14 take it in two steps."""
        order = _GIVE.pack(self.id, _GIVE_AND_ANSWER, descriptor, 0, flags)
        try:
            fcntl.ioctl(self.listener, _ADD, order)
        except OSError as error:
            if error.errno != errno.EINVAL:
                return
            first = bytearray(_GIVE.pack(self.id, 0, descriptor, 0, flags))
            with ignored:
                self.succeed(fcntl.ioctl(self.listener, _ADD, first, True))

    def _answer(self, error: int, flags: int, value: int = 0) -> bool:
        try:
            fcntl.ioctl(self.listener, _SEND, _ANSWER.pack(self.id, value, error, flags))
        except OSError:
            return False
        return True
