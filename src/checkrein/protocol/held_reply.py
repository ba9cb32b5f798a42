"""The answer to `initialize` when a call that was put off comes up first."""

from __future__ import annotations

import threading
from collections.abc import Callable

from checkrein.runtime.session.events import Event, Finished, ToolFinished

_PATIENCE = 20.0
"""Seconds. The SDKs give up after sixty."""


class HeldReply:
    """`send` runs once: when the call has ended, when its turn has, or after some time. A host without a
    prompt closes its side as soon as it is greeted, and could not judge the call any more."""

    def __init__(self, send: Callable[[], object]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._sent = False
        self._timer = threading.Timer(_PATIENCE, self.release)
        self._timer.daemon = True
        self._timer.start()

    def take(self, event: Event) -> None:
        if isinstance(event, ToolFinished | Finished):
            self.release()

    def release(self) -> None:
        with self._lock:
            if not self._sent:
                self._sent = True
                self._timer.cancel()
                self._send()
