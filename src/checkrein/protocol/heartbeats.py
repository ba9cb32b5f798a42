"""Says again and again that a call of a tool still runs, so that a program can tell work from a hang."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from checkrein.runtime.session.events import Event, Finished, ToolFinished, ToolStarted

_EVERY = 30.0
_LOOK = 1.0


class Heartbeats:
    """`take` gets every event of a session. `beat` gets each call of the model that still runs, every 30
    seconds, with the seconds so far; from another thread, and never after the end of the call."""

    def __init__(self, beat: Callable[[ToolStarted, float], object]) -> None:
        self._beat = beat
        self._open: dict[str, tuple[ToolStarted, float, float]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, event: Event) -> None:
        with self._lock:
            match event:
                case ToolStarted(caller="model"):
                    now = time.monotonic()
                    self._open[event.id] = (event, now, now + _EVERY)
                case ToolFinished():
                    self._open.pop(event.id, None)
                case Finished(agent_id=None):
                    self._open.clear()
        if self._open and self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="checkrein-heartbeats", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK):
            try:
                self._look(time.monotonic())
            except OSError:  # the reader has left
                return

    def _look(self, now: float) -> None:
        with self._lock:
            for call, since, due in list(self._open.values()):
                if now >= due:
                    self._open[call.id] = (call, since, due + _EVERY)
                    self._beat(call, now - since)
