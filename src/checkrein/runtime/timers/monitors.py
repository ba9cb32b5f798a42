"""The lines of watched commands, as notes for the model.

The lines that came since the last look are one note. A note has a limit, and so has their number: a program
that floods can't fill the context. What is left out stays in the file of the command.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.harmless import harmless
from checkrein.runtime.context.reminders import quoted
from checkrein.runtime.session.wakes import Wake

if TYPE_CHECKING:
    from checkrein.runtime.tools.desk import Shell

NOTE_CHARS = 2_000
LINE_CHARS = 500
BURST = 10
"""Notes that may come at once; afterwards one more each `REFILL` seconds."""
REFILL = 10.0
_READ = 1 << 16


class _Watched(Struct):
    """`read` is how much of the output the notes cover. `notes` may still come."""

    shell: Shell
    filled: float
    read: int = 0
    notes: float = BURST
    over: bool = False


class Monitors:
    """The watched commands of one conversation. Any thread may use it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._watched: list[_Watched] = []

    @property
    def running(self) -> int:
        with self._lock:
            return sum(1 for one in self._watched if one.shell.status == "running")

    def add(self, shell: Shell) -> None:
        with self._lock:
            self._watched.append(_Watched(shell=shell, filled=self._now()))

    def due(self) -> Sequence[Wake]:
        with self._lock:
            found = [note for one in self._watched if (note := self._note(one)) is not None]
            self._watched = [one for one in self._watched if not one.over]
            return found

    def _note(self, one: _Watched) -> Wake | None:
        now = self._now()
        one.notes = min(BURST, one.notes + (now - one.filled) / REFILL)
        one.filled = now
        one.over = one.shell.status != "running"
        text = _news(one) if one.notes >= 1 or one.over else ""
        if not text:
            return None
        one.notes -= 1
        head = f"Monitor {one.shell.id} ({harmless(one.shell.words)}):"
        return Wake(text=quoted(f"{head}\n{text}"), source="monitor")


def _news(one: _Watched) -> str:
    """The whole lines that are new, the last ones when there are too many. At the end, the rest too."""
    try:
        with open(os.open(one.shell.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = max(one.read, size - _READ)
            file.seek(start)
            data = file.read(_READ)
    except OSError:
        return ""
    skipped = start - one.read
    if not one.over and len(data) < _READ:
        data = data[: data.rfind(b"\n") + 1]
    one.read = start + len(data)
    kept: list[str] = []
    left = NOTE_CHARS
    lines = data.decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        shown = harmless(line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…")
        left -= len(shown) + 1
        if left < 0:
            break
        kept.append(shown)
    out = len(lines) - len(kept)
    words = [f"{out} lines"] * (out > 0) + [f"{skipped} bytes"] * (skipped > 0)
    omitted = [f"[{' and '.join(words)} before this are only in {one.shell.path}]"] if words else []
    return "\n".join([*omitted, *reversed(kept)])
