"""The session's side of the warden: starts it, gives it orders, and ends it."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.runtime.process.child import MARK
from checkrein.runtime.process.guard import wire
from checkrein.runtime.process.guard.guard import Guard
from checkrein.runtime.process.guard.leaders import Leaders
from checkrein.runtime.process.guard.ward import Ward
from checkrein.runtime.process.sandbox.bounds import NO_BOUNDS, Bounds

if TYPE_CHECKING:
    import subprocess

_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from checkrein.runtime.process.guard.warden import main; main()"
)
_LAST_WAIT = 5.0
LIBRARY = os.path.join(os.path.dirname(__file__), "libquick.so")
"""Where the installation puts the compiled code of `quick`, if there was a compiler."""

Begin = Callable[[Sequence[str], int], "subprocess.Popen[bytes]"]
"""Starts a program of our own, with one descriptor that stays open in it."""


def guarded(mark: str) -> str:
    """The mark of the guarded processes of a session: the session's own with an addition."""
    return f"{mark}:guarded"


class Order(Struct, frozen=True, kw_only=True):
    """One command to start. `descriptors` are standard input, output, errors, and more under their own
    numbers. `bounds` are those of the sandbox."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    streams: tuple[int, int, int]
    pass_fds: tuple[int, ...] = ()
    bounds: Bounds = NO_BOUNDS


class Warden:
    """Starts the process at once; it gets ready meanwhile. Any thread may use it."""

    def __init__(self, mark: str, begin: Begin, compiled: bool = True) -> None:
        """`compiled`: it may answer clear starts with the library, if there is one."""
        self._mark = guarded(mark)
        self._lock = threading.Lock()
        self._kept: dict[int, Ward] = {}
        self._wake = -1
        self._is_ending = False
        self._leaders = Leaders()
        self._orders, theirs = wire.pair()
        try:
            root = os.path.dirname(sys.modules["checkrein"].__path__[0])
            library = LIBRARY if compiled else ""
            argv = (sys.executable, "-I", "-S", "-c", _PROGRAM, root, str(theirs.fileno()), mark, library)
            self._process = begin(argv, theirs.fileno())
        except BaseException:
            self._orders.close()
            self._leaders.close()
            raise
        finally:
            theirs.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_gone(self) -> bool:
        if self._is_ending:  # its descriptors close one after the other
            select.select((self._orders,), (), (), _LAST_WAIT)
            self._is_ending = False
        try:
            return not self._orders.recv(1, socket.MSG_DONTWAIT)
        except OSError as error:
            return not isinstance(error, BlockingIOError)

    def start(self, order: Order, guard: Guard, awaited: bool) -> Ward:
        """Raises OSError when the command can't start; the ward does, if it is not `awaited`."""
        watch, bounds, place = guard.watch, order.bounds, self._leaders.place()
        message = {
            "awaited": awaited,
            "place": place,
            "argv": tuple(order.argv),
            "cwd": order.cwd,
            "env": {**order.env, MARK: self._mark},
            "targets": (0, 1, 2, *order.pass_fds),
            "has_ruleset": bounds.ruleset >= 0,
            "filter": bounds.filter,
            "capabilities": bounds.capabilities,
            "hidden": bounds.hidden,
            "effects": bounds.effects,
            "watch": {
                "every": watch.every,
                "programs": tuple((one.name, one.words) for one in watch.programs),
                "only": watch.only,
            },
        }
        channel, theirs = wire.pair()
        descriptors = [theirs.fileno(), self._leaders.descriptor, *order.streams, *order.pass_fds]
        if bounds.ruleset >= 0:
            descriptors.append(bounds.ruleset)
        try:
            wire.send(self._orders, message, descriptors)
        except BaseException:
            channel.close()
            raise
        finally:
            theirs.close()
        leader = partial(self._leaders.number, place)
        ward = Ward(channel, guard, self._keep, self._mark, leader, self._lose, bounds.reasons)
        if awaited:
            ward.wait_for_start()
        return ward

    def close(self) -> None:
        """End everything that it started, and itself. Returns when it is gone."""
        with contextlib.suppress(OSError):
            wire.send(self._orders, wire.GOODBYE)
            self._orders.shutdown(socket.SHUT_RDWR)
        self._orders.close()
        self._leaders.close()
        with self._lock:
            wake, self._wake = self._wake, -2
        if wake >= 0:
            os.close(wake)
        with contextlib.suppress(OSError, AttributeError):  # Popen would look again and again
            ended = os.pidfd_open(self._process.pid)
            select.select((ended,), (), (), _LAST_WAIT)
            os.close(ended)
        try:
            self._process.wait(_LAST_WAIT)
        except Exception:  # it hangs: its children have it as their parent and end with it
            self._process.kill()
            self._process.wait()

    def _lose(self) -> None:
        self._is_ending = True

    def _keep(self, ward: Ward) -> None:
        with self._lock:
            if self._wake == -2:
                ward.release()
                return
            if self._wake == -1:
                woken, self._wake = os.pipe()
                thread = threading.Thread(
                    target=self._listen, args=(woken,), name="checkrein-wards", daemon=True
                )
                thread.start()
            self._kept[ward.descriptor] = ward
            os.write(self._wake, b".")

    def _listen(self, woken: int) -> None:
        """Hear the children of commands that are over."""
        while True:
            poll = select.poll()
            poll.register(woken, select.POLLIN)
            with self._lock:
                for descriptor in self._kept:
                    poll.register(descriptor, select.POLLIN)
            for descriptor, _ in poll.poll():
                if descriptor == woken:
                    if not os.read(woken, 4096):
                        for ward in self._kept.values():
                            ward.release()
                        os.close(woken)
                        return
                    continue
                ward = self._kept[descriptor]
                ward.notice()
                if ward.descriptor < 0:
                    with self._lock:
                        del self._kept[descriptor]
