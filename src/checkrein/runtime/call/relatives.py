"""Who belongs to one tree of conversations and is still there."""

from __future__ import annotations

import threading
import weakref
from typing import Generic, TypeVar

T = TypeVar("T")


class Relatives(Generic[T]):
    """Safe to use from several threads. It keeps nobody alive."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._members: list[weakref.ref[T]] = []

    def join(self, member: T) -> None:
        with self._lock:
            self._members = [*(one for one in self._members if one() is not None), weakref.ref(member)]

    def all(self) -> list[T]:
        with self._lock:
            return [found for one in self._members if (found := one()) is not None]
