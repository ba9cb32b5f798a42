"""While a command starts and ends, other threads of the program give way sooner.

Each system call lets go of the lock of the interpreter, and waits for it again. Beside a thread that
computes, that is 5 ms each time by default, and a command needs dozens of calls.
"""

from __future__ import annotations

import sys
import threading
from types import TracebackType

_SOON = 0.0001


class _Attention:
    """The shorter interval, while anybody needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._usual = 0.0

    def __enter__(self) -> None:
        with self._lock:
            if self._count == 0:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(_SOON, self._usual))
            self._count += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                sys.setswitchinterval(self._usual)


ATTENTION = _Attention()
