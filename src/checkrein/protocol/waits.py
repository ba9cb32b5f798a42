"""Says that a run waits, and for what: each retry, and whatever takes long.

A call of an MCP server is told even while something else goes on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from checkrein.policy.remote import PREFIX
from checkrein.runtime.session.events import (
    Event,
    Finished,
    HookFinished,
    HookStarted,
    RequestSent,
    Retrying,
    ToolFinished,
    ToolStarted,
)

_FIRST = 3.0
_AGAIN = 60.0
_SERVER_CALL = 30.0
_LOOK = 0.5
_MODEL = "model"


@contextmanager
def told_if_slow(reason: Callable[[], str | None], tell: Callable[[str], None]) -> Iterator[None]:
    """Outside of a session: say once what is waited for, if it takes long and there is a `reason`."""

    def late() -> None:
        found = reason()
        if found is not None:
            tell(f"Waiting for {found}, {_FIRST:g} s so far.")

    timer = threading.Timer(_FIRST, late)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Waits:
    """`take` gets every event of a session. `tell` gets lines, also from another thread. `retries` False
    leaves the retries to others. `before_model` names what has to end before a model can be asked."""

    def __init__(self, tell: Callable[[str], None], *, retries: bool = True) -> None:
        self._tell = tell
        self._retries = retries
        self.before_model: Callable[[], str | None] = lambda: None
        self._open: dict[str, str] = {}
        self._calls: dict[str, tuple[str, float]] = {}
        self._since = time.monotonic()
        self._told = 0.0
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, event: Event) -> None:
        self._since, self._told = time.monotonic(), 0.0
        match event:
            case RequestSent():
                self._open[_MODEL] = f"the answer of {event.model}"
            case Retrying():
                self._since += event.delay_ms / 1000
                if self._retries:
                    self._tell_retry(event)
            case HookStarted():
                self._open[event.hook_id] = f"the hook {event.hook_name}"
            case HookFinished():
                self._open.pop(event.hook_id, None)
            case ToolStarted():
                self._open[event.id] = f"the tool {event.name}"
                if event.name.startswith(PREFIX):
                    self._calls[event.id] = (event.name, self._since)
            case ToolFinished():
                self._open.pop(event.id, None)
                self._calls.pop(event.id, None)
            case Finished():
                self._open.clear()
                self._calls.clear()
        if self._open and self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="checkrein-waits", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._closed.set()

    def _tell_retry(self, event: Retrying) -> None:
        end = "" if event.error.endswith((".", "!", "?")) else "."
        self._tell(f"{event.error}{end} Trying again in {event.delay_ms / 1000:.1f} s.")

    def _reason(self) -> str:
        """What began last, of the things that go on."""
        last = list(self._open)[-1]
        return (self.before_model() if last == _MODEL else None) or self._open[last]

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK):
            now = time.monotonic()
            silent = now - self._since
            due = _FIRST if not self._told else self._told + _AGAIN
            if self._open and silent >= due:
                self._told = silent
                self._tell(f"Waiting for {self._reason()}, {silent:.0f} s so far.")
            for key, (name, since) in list(self._calls.items()):
                if now - since >= _SERVER_CALL:
                    self._calls.pop(key, None)
                    if not self._told:
                        self._tell(f"Waiting for the tool {name}, {now - since:.0f} s so far.")
