"""Who ends a session's processes when the session can't: the warden, or a shell that waits.

A mark in the environment finds processes that left their group.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from checkrein.runtime.process.command import GRACE, Command

if TYPE_CHECKING:
    import subprocess

    from checkrein.runtime.process.guard.client import Warden


class Custody:
    """For one session. Any thread may use it."""

    def __init__(self, mark: str, compiled: bool) -> None:
        self._mark = mark
        self._compiled = compiled
        self._lock = threading.Lock()
        self._shell: subprocess.Popen[bytes] | None = None
        self._warden: Warden | None = None
        self._closed = False

    def stand(self, command: Command) -> Warden | None:
        """Before the start of a command: what will end it stands ready. Returns the warden for a guarded
        command."""
        from checkrein.runtime.process.launches import start_helper

        if command.guard is not None:
            return self.warden()
        with self._lock:
            if self._shell is None and self._warden is None and os.path.isdir("/proc/self"):
                self._shell = start_helper(("/bin/sh", "-c", _script(self._mark)))
        return None

    def warden(self) -> Warden:
        """Starts it when there is none, or when it has died. Raises PolicyError where the guard does not
        hold."""
        from checkrein.base.errors import PolicyError
        from checkrein.runtime.process.guard.availability import guard_status
        from checkrein.runtime.process.guard.client import Warden
        from checkrein.runtime.process.launches import start_helper

        with self._lock:
            if self._closed:
                raise PolicyError("The session has ended.", kind="session_ended")
            if self._warden is not None and self._warden.is_gone:
                self._warden.close()
                self._warden = None
            if self._warden is None:
                status = guard_status()
                if not status.holds:
                    raise PolicyError(status.why, kind="guard_unavailable", hint="Run `checkrein doctor`.")
                self._warden = Warden(self._mark, start_helper, self._compiled)
            return self._warden

    def close(self, grace: float = GRACE) -> None:
        """End everything that is left, after `grace` seconds without mercy. Returns when it is gone."""
        with self._lock:
            self._closed = True
            shell, self._shell = self._shell, None
            warden, self._warden = self._warden, None
        if warden is not None:
            warden.close()
        if shell is not None or warden is not None:
            self._sweep(grace)
        if shell is not None:
            shell.kill()
            shell.wait()
            if shell.stdin:
                shell.stdin.close()

    def _sweep(self, grace: float) -> None:
        """First SIGTERM, then SIGKILL until nothing carries the mark."""
        from checkrein.runtime.process.guard.descent import marked, send

        escaped = marked(self._mark)
        if not escaped:
            return
        send(escaped, 15)
        limit = time.monotonic() + grace
        while (escaped := marked(self._mark)) and time.monotonic() < limit:
            time.sleep(0.02)
        limit = time.monotonic() + GRACE
        while escaped and time.monotonic() < limit:
            send(escaped, 9)
            time.sleep(0.01)
            escaped = marked(self._mark)


def _script(mark: str) -> str:
    """For sh: wait until the parent is gone (its end of our input closes), then end what carries the mark."""
    end = (
        f"for f in $(grep -lsF -e {mark} /proc/[0-9]*/environ); do "
        'p=${f#/proc/}; kill -s "$s" "${p%/environ}" 2>/dev/null; done'
    )
    return f"read -r _; s=TERM; {end}; s=KILL; for _ in 1 2 3; do sleep 1; {end}; done"
