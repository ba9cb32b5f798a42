"""Notices that the program which reads our output is gone, also while nothing is written."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Callable
from types import TracebackType

from checkrein.protocol.wire import LineWriter

_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL


class HostWatch:
    """Calls `gone` once, from a thread of its own, when nobody can read the output any more."""

    def __init__(self, out: LineWriter, gone: Callable[[], object]) -> None:
        self._descriptor = out.descriptor
        self._gone = gone
        self._woken, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._watch, name="checkrein-host-watch", daemon=True)

    def __enter__(self) -> HostWatch:
        if self._descriptor is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._wake)
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)
        with contextlib.suppress(OSError):
            os.close(self._woken)

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        assert self._descriptor is not None
        poll.register(self._descriptor, 0)
        for descriptor, events in poll.poll():
            if descriptor == self._descriptor and events & _GONE:
                self._gone()
