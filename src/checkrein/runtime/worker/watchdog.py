"""Notices a worker that makes no progress. Time comes from outside, so tests need not wait.

`idle`: nothing at all arrives. `stale`: something may arrive, but no step ends. While a tool runs, silence is
no sign of a stall, up to `suppression` seconds.
"""

from __future__ import annotations

import threading
from typing import Literal

from msgspec import Struct

from checkrein.runtime.worker.session_report import Termination

Beat = Literal["output", "step", "tool_started", "tool_finished", "submitted"]


class Limits(Struct, frozen=True, kw_only=True):
    """In seconds; 0 switches a watch off. `exit_grace` is how long a session may go on after its result."""

    timeout: float = 7200.0
    stale: float = 1200.0
    idle: float = 600.0
    suppression: float = 1800.0
    exit_grace: float = 5.0


class Watchdog:
    """Any thread may call it."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._began = self._output = self._step = now
        self._tools = 0
        self._submitted: float | None = None

    def beat(self, kind: Beat, now: float) -> None:
        with self._lock:
            self._output = now
            if kind != "output":
                self._step = now
            if kind == "tool_started":
                self._tools += 1
            elif kind == "tool_finished":
                self._tools = max(0, self._tools - 1)
            elif kind == "submitted" and self._submitted is None:
                self._submitted = now

    def due(self, now: float) -> Termination | None:
        """Why the session must end now; None while all is well."""
        limits = self._limits
        with self._lock:
            if self._submitted is not None and now - self._submitted >= limits.exit_grace:
                return "completed"
            if limits.timeout and now - self._began >= limits.timeout:
                return "timed_out"
            quiet, still = now - self._output, now - self._step
            if self._tools and (not limits.suppression or still < limits.suppression):
                return None
            if limits.idle and quiet >= limits.idle:
                return "idle_stall"
            return "stale" if limits.stale and still >= limits.stale else None
