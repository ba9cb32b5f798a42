"""The threads in which subagents work: those in the background, and those that a person may send there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

from checkrein.llm.port import Cancel
from checkrein.runtime.agents.task import AgentTask
from checkrein.runtime.session.events import Event
from checkrein.runtime.tools.port import Aside

Emit = Callable[[Event], object]
Run = Callable[[Cancel, Emit], None]
"""Works until the subagent has ended and everybody knows it."""

_TICK = 0.1


class AgentThreads:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.known: tuple[tuple[AgentTask, threading.Thread], ...] = ()

    @property
    def busy(self) -> bool:
        return any(thread.is_alive() and not task.resting for task, thread in self.known)

    def start(self, task: AgentTask, run: Callable[[], None]) -> None:
        """Raises RuntimeError when the system has no more threads."""
        thread = threading.Thread(target=run, name=f"agent-{task.id}", daemon=True)
        with self._lock:
            thread.start()
            self.known = (*(one for one in self.known if one[1].is_alive()), (task, thread))

    def attend(self, task: AgentTask, run: Run, aside: Aside, tell: Emit) -> bool:
        """Wait for a subagent in the foreground. True when the person sent it to the background before its
        end: from then on its events go to `tell`, and an interrupt of the turn does not end it."""
        cancel, outlet = Cancel(), _Outlet(aside.emit)
        self.start(task, partial(run, cancel, outlet))
        with aside.cancel.on_cancel(cancel.cancel, cancel.force):
            while not task.ended_within(_TICK):
                if task.let_go.is_set():
                    return self._left(task, outlet, tell)
        return False

    def _left(self, task: AgentTask, outlet: _Outlet, tell: Emit) -> bool:
        with task.settling:
            if task.state != "running":
                return False
            task.change(background=True)
            outlet.to = tell
            return True

    def join(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        for _, thread in self.known:
            thread.join(max(0.0, until - time.monotonic()))


class _Outlet:
    """Where the events of a subagent go. It may change while it works."""

    def __init__(self, to: Emit) -> None:
        self.to = to

    def __call__(self, event: Event) -> object:
        return self.to(event)
