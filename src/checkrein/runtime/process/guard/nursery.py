"""The children that wait for orders, and who makes them.

After a fork both sides copy each page that they touch. The warden has no time for that. So a process of its
own makes the children, as children of the warden, and the warden forks nothing on the way of an ordinary
command.
"""

from __future__ import annotations

import os
import struct

from checkrein.runtime.process.guard import syscalls
from checkrein.runtime.process.guard.launcher import Fence, Spare, become, end, end_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

    from checkrein.runtime.process.guard.effect_calls import Effects

_REQUEST = struct.Struct("=2i")
_READY = 2
"""One more than the next command needs: the one after it may come before a child is ready."""


class Nursery:
    def __init__(self, library: ctypes.PyDLL | None) -> None:
        """With the library, ordinary children are compiled."""
        self._is_compiled = library is not None
        requests, self._requests = os.pipe()
        kept = os.getpid(), os.getppid()
        self._maker = syscalls.clone_sharing_files()
        if self._maker == 0:
            _make_spares(kept, requests, library)
        self._fence = Fence((*kept, self._maker))
        self._spares: list[Spare] = []
        self._is_closed = False
        for _ in range(_READY):
            self.refill()

    def take(
        self, order: Mapping[str, Any], is_another_near: Callable[[], bool]
    ) -> tuple[Spare, Effects | None]:
        """A child for an order. An order with other calls to judge, or with files to hide, has its own kind.
        Raises OSError when a filter can't be made."""
        if order["effects"] is None and not order["hidden"]:
            spare = self._spares.pop(0) if self._spares else self._new()
            # of several commands at once, the next one's child gets ready beside this one's start
            if not self._spares and is_another_near():
                self.refill()
            if spare.is_alive and spare.takes(order):
                return spare, None
            spare.discard()
            return self._made_here(self._fence.program), None
        from checkrein.runtime.process.guard.effect_calls import Effects

        effects = Effects(order["effects"]) if order["effects"] is not None else None
        return self._made_here(self._fence.program_with(effects), order["hidden"]), effects

    def refill(self) -> None:
        if len(self._spares) < _READY and not self._is_closed:
            self._spares.append(self._new())

    def lose(self, pid: int) -> None:
        """A process that is not a command has ended. It may be one of ours: somebody has killed it."""
        if pid == self._maker:
            self._maker = 0
        for spare in [one for one in self._spares if one.is_ready(0) and one.pid == pid]:
            self._spares.remove(spare)
            spare.close()

    def close(self) -> None:
        """Waits for no birth: a child that comes late is below the warden, which ends it with the rest."""
        self._is_closed = True
        end(self._maker)
        while self._spares:
            self._spares.pop().discard(patience=0)

    def _new(self) -> Spare:
        if self._maker:
            return Spare(self._ask, is_compiled=self._is_compiled)
        return Spare(_here(self._fence, self._fence.program))

    def _made_here(self, program: bytes, hidden: Sequence[str] = ()) -> Spare:
        spare = Spare(_here(self._fence, program, hidden))
        spare.is_ready()
        return spare

    def _ask(self, orders: int, writing: int) -> None:
        os.write(self._requests, _REQUEST.pack(orders, writing))


def _here(fence: Fence, program: bytes, hidden: Sequence[str] = ()) -> Callable[[int, int], None]:
    """Makes a child in this process."""

    def make(orders: int, writing: int) -> None:
        if syscalls.clone_sharing_files() == 0:
            become(fence, program, hidden, orders, writing)

    return make


def _make_spares(kept: tuple[int, int], requests: int, library: ctypes.PyDLL | None) -> NoReturn:
    """In the process that makes the children."""
    try:
        end_with(kept[0])
        fence = Fence((*kept, os.getpid()))
        if library is not None:
            library.quick_nursery(requests, kept[0], fence.ruleset, fence.program, len(fence.program))
        while library is None:
            orders, writing = _REQUEST.unpack(os.read(requests, _REQUEST.size))
            if syscalls.clone_sharing_files(for_parent=True) == 0:
                become(fence, fence.program, (), orders, writing)
    finally:
        os._exit(1)
