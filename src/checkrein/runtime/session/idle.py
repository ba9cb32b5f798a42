"""A session between its turns: what happens in the background is shown, and what is awaited starts a turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from checkrein.facts import subagents
from checkrein.runtime.session.channel import WAKE
from checkrein.runtime.session.events import Event
from checkrein.runtime.session.wakes import Wake, Wakes

if TYPE_CHECKING:
    from checkrein.runtime.session.control import Prompt
    from checkrein.runtime.session.session import Session


class Idle:
    """`show` shows what happened in the background. When no prompt can come any more, the run waits for its
    tasks, but only for `limit` seconds in all."""

    def __init__(self, wakes: Wakes, show: Callable[[], None], limit: float) -> None:
        self.show = show
        self._wakes = wakes
        self._left = limit

    def awaited(self) -> Wake | None:
        """The next wake that a run without further prompts waits for; None when it is over."""
        while self._wakes.awaited and self._left > 0:
            wake = self._wakes.next()
            if wake is not None:
                return wake
            self.show()
            began = time.monotonic()
            self._wakes.wait(WAKE)
            self._left -= time.monotonic() - began
        return None


def idle_of(session: Session, show: Callable[[Event], object]) -> Idle:
    """For a session; `show` gets the events of its background."""

    def heard() -> None:
        for event in session.idle_events():
            show(event)

    env = session.conversation.env
    limit = subagents.limit(env, subagents.ENV_PRINT_WAIT_MS, subagents.PRINT_WAIT_MS)
    return Idle(session.control.wakes, heard, limit / 1000)


def and_what_follows(prompt: Prompt, idle: Idle) -> Iterator[Prompt | Wake]:
    """One prompt, and what its tasks make of it afterwards: each is a turn."""
    yield prompt
    while (wake := idle.awaited()) is not None:
        yield wake
