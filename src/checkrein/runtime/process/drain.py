"""The one thread for children in the background: it reads their pipes and notices their end."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable

from checkrein.runtime.process.child import Child

_TICK_MS = 100


class Drain:
    """`adopt` hands a child over; from then on nobody else may call `step` on it. `ended` gets each
    child whose leader is gone."""

    def __init__(self, ended: Callable[[Child], None]) -> None:
        self._ended = ended
        self._arrivals: list[Child] = []
        self._wake_read, self._wake_write = os.pipe()
        self._closing = False
        os.set_blocking(self._wake_read, False)
        self._thread = threading.Thread(target=self._loop, name="checkrein-drain", daemon=True)
        self._thread.start()

    def adopt(self, child: Child) -> None:
        child.wake = self._poke
        self._arrivals.append(child)
        self._poke()

    def close(self) -> None:
        """End the thread. Stop running children first."""
        self._closing = True
        self._poke()
        self._thread.join(timeout=2.0)

    def _poke(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._wake_write, b".")

    def _loop(self) -> None:
        poll = select.poll()
        poll.register(self._wake_read, select.POLLIN)
        owners: dict[int, Child] = {}
        children: set[Child] = set()
        while not self._closing:
            # A child without a pidfd, with a time limit or in its grace needs a clock; others are silent.
            timed = any(c.stopping is not None or c.deadline is not None or not c.watched for c in children)
            clocked = timed or not hasattr(os, "pidfd_open")
            for descriptor, _ in poll.poll(_TICK_MS if clocked and children else None):
                if descriptor == self._wake_read:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wake_read, 4096)
                    continue
                for closed in owners[descriptor].ready(descriptor):
                    poll.unregister(closed)
                    del owners[closed]
            while self._arrivals:
                child = self._arrivals.pop()
                children.add(child)
                for descriptor, mask in child.watched.items():
                    owners[descriptor] = child
                    poll.register(descriptor, mask)
            for child in list(children):
                child.tick(time.monotonic())
                if child.exit_code is None:
                    continue
                if not child.ended.is_set():
                    child.out.flush()
                    self._ended(child)
                    child.ended.set()
                if not child.has_open_pipes:
                    children.discard(child)
                    for descriptor in list(child.watched):
                        poll.unregister(descriptor)
                        del owners[descriptor]
                    child.close()
        for child in children:
            child.tick(time.monotonic())
            child.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
