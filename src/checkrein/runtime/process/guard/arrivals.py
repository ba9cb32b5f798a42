"""What the warden waits for: descriptors, calls that want an answer, changes of processes."""

from __future__ import annotations

import os
import select

from checkrein.runtime.process.guard import syscalls
from checkrein.runtime.process.guard.descent import ANY_CHILD
from checkrein.runtime.process.guard.notification import Notification, receive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from checkrein.runtime.process.guard.caller import Caller
    from checkrein.runtime.process.guard.faces import Start
    from checkrein.runtime.process.guard.launch import Launch
    from checkrein.runtime.process.guard.lookout import Lookout


class Arrivals:
    """In Python alone. `quick.QuickArrivals` answers clear starts itself, before the warden hears of them.
    For that it is told where a command begins and ends, and what is clear."""

    def __init__(self) -> None:
        self.poll = select.epoll()
        self.signals = syscalls.child_signals()

    def watch(self, descriptor: int) -> None:
        self.poll.register(descriptor, select.EPOLLIN)

    def forget(self, descriptor: int) -> None:
        self.poll.unregister(descriptor)

    def wait(self, patience: float | None) -> int:
        """The descriptor that is ready; -1 when there is none, and somebody may wait too long. One at a time:
        what one event closes, another may have reused."""
        ready = self.poll.poll(patience, 1)
        return ready[0][0] if ready else -1

    def overdue(self) -> None:
        """The tracer gets to know of all starts that take long."""

    def call(self, launch: Launch) -> Notification:
        """The call that made the listener of a command ready. Raises OSError when the caller is gone."""
        return receive(launch.listener)

    def change(self) -> tuple[int, int]:
        """One change of a child or of a traced process: its number and status; (0, 0) when there is none."""
        try:
            return os.waitpid(-1, os.WNOHANG | ANY_CHILD)
        except ChildProcessError:
            return 0, 0

    def take_signal(self) -> None:
        with syscalls.ignored:
            os.read(self.signals, 4096)

    def begun(self, launch: Launch) -> None:
        """The program of a command has started: from now on calls are judged."""

    def closed(self, launch: Launch) -> None:
        """Its listener is about to close. Afterwards `seen` of it is complete."""

    def cleared(self, launch: Launch, caller: Caller, start: Start) -> None:
        """This start was no question."""

    def outdated(self, lookout: Lookout) -> None:
        """Commands that run go on with it; no new one gets it."""
