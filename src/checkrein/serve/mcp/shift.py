"""What one client's kitchen remembers from its opening to its close: steps, failures, sizes of answers."""

from __future__ import annotations

import threading

from msgspec import Struct

from checkrein.base.ids import new_uuid

_CHARS_PER_TOKEN = 4


class Step(Struct, frozen=True, kw_only=True):
    """One call of a tool. `tokens` estimates the size of its answer."""

    step: str
    tool: str
    seconds: float
    tokens: int
    order: str = ""
    failure: str | None = None


class Shift:
    """Safe to use from several threads. `owner` names whoever has opened the kitchen."""

    def __init__(self) -> None:
        self.owner = new_uuid()
        self._steps: list[Step] = []
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


def tokens(text: str) -> int:
    return -(-len(text) // _CHARS_PER_TOKEN)
