"""The end of a run on the command line: one result for each prompt, then the exit, come what may."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkrein.runtime.session.events import Event, Finished, SessionStarted
from checkrein.runtime.session.graces import LAST

if TYPE_CHECKING:
    from checkrein.runtime.session.session import Session

_AT_ONCE = 0.4
_STUCK = 0.3


class LastWords:
    """Stands between a session and `show`. `told` is true when the result of the current prompt is shown;
    no prompt gets two. `status` is the exit status, as soon as it is certain. After a signal or the deadline
    of a turn, a watch ends the process in time, with the result, even when the turn does not end. With
    `holds`, a result waits while tasks of the run can still start a turn: the last one counts."""

    def __init__(self) -> None:
        self.told = False
        self.holds = False
        self.status: int | None = None
        self._held: Finished | None = None
        self._show: Callable[[Event], None] = lambda event: None
        self._session: Session | None = None
        self._lock = threading.RLock()
        self._over = threading.Event()

    def attach(self, session: Session, show: Callable[[Event], None]) -> None:
        self._session = session
        self._show = show

    def show(self, event: Event) -> None:
        with self._lock:
            if event.agent_id is None and isinstance(event, SessionStarted):
                self.told = False
                self._watch_deadline()
            if event.agent_id is None and isinstance(event, Finished):
                if self.told:
                    return
                if self.holds and self._is_awaited():
                    self._held = event
                    return
                self.told, self._held = True, None
            self._show(event)

    def release(self) -> None:
        """Nothing follows: show the result that waits."""
        with self._lock:
            held, self._held, self.holds = self._held, None, False
            if held is not None:
                self.show(held)

    def _is_awaited(self) -> bool:
        return self._session is not None and self._session.control.wakes.awaited

    def stop(self, status: int, now: bool) -> None:
        """Stop the session. Its process exits with `status` in less than two seconds, or at once."""
        assert self._session is not None
        self._watch(time.monotonic() + (_AT_ONCE if now else LAST), status)
        self._session.control.stop(now=now)

    def close(self) -> None:
        """The run is over: nothing ends the process any more."""
        self._over.set()

    def _watch_deadline(self) -> None:
        assert self._session is not None
        deadline = self._session.control.cancel.deadline
        if deadline is not None:
            self._watch(deadline + LAST, 1)

    def _watch(self, at: float, status: int) -> None:
        def wait() -> None:
            if not self._over.wait(
                min(max(0.0, at - time.monotonic()), threading.TIMEOUT_MAX)
            ) and self._is_due(at):
                self._leave(status)

        threading.Thread(target=wait, name="checkrein-end", daemon=True).start()

    def _is_due(self, at: float) -> bool:
        """False when a later turn runs by now, which has its own deadline."""
        cancel = self._session.control.cancel if self._session is not None else None
        return cancel is None or cancel.cancelled

    def _leave(self, status: int) -> None:
        status = status if self.status is None else self.status
        hard = threading.Timer(_STUCK, os._exit, (status,))
        hard.daemon = True
        hard.start()
        with self._lock, contextlib.suppress(Exception):
            if self._session is not None:
                self.release()
                if not self.told:
                    self.show(self._session.give_up())
                self._session.conversation.services.spawner.kill()
        os._exit(status)
