"""What one client's kitchen remembers from its opening to its close: steps, failures, sizes of answers."""

from __future__ import annotations

import threading
from typing import Any

from msgspec import Struct

from checkrein.base.ids import new_uuid

_CHARS_PER_TOKEN = 4
Attempt = tuple[str, str, str, str]
"""The order, the step, the command and the directory of a worker."""


class Step(Struct, frozen=True, kw_only=True):
    """One call of a tool. `tokens` estimates the size of its answer."""

    step: str
    tool: str
    seconds: float
    tokens: int
    order: str = ""
    failure: str | None = None


class Shift:
    """Safe to use from several threads. `owner` names whoever has opened the kitchen; `guard_waived`:
    somebody allowed workers without the quota guard."""

    def __init__(self, *, guard_waived: bool = False) -> None:
        self.owner = new_uuid()
        self.guard_waived = guard_waived
        self._steps: list[Step] = []
        self._failures: dict[Attempt, int] = {}
        self._quota_events: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def note(self, step: Step) -> None:
        with self._lock:
            self._steps.append(step)

    def steps(self, order: str = "", *, clear: bool = False) -> list[Step]:
        with self._lock:
            found = [one for one in self._steps if not order or one.order == order]
            if clear:
                self._steps = [one for one in self._steps if one not in found]
        return found

    def failures(self, attempt: Attempt) -> int:
        """Retriable failures of a worker's command just before."""
        with self._lock:
            return self._failures.get(attempt, 0)

    def attempted(self, attempt: Attempt, *, again: bool) -> None:
        with self._lock:
            self._failures[attempt] = self._failures.get(attempt, 0) + 1 if again else 0

    @property
    def quota_events(self) -> list[dict[str, Any]]:
        with self._lock:
            return list(self._quota_events)

    def note_quota(self, event: dict[str, Any]) -> None:
        with self._lock:
            self._quota_events.append(event)


def tokens(text: str) -> int:
    return -(-len(text) // _CHARS_PER_TOKEN)
