"""`session_state_changed`: whether the session works, waits for its host, or is idle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

State = Literal["running", "requires_action", "idle"]
_PLAIN = "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"
_FOR_HOST = "CLAUDE_CODE_SDK_READS_SESSION_STATE"
_FALSE = ("", "0", "false", "no", "off")


class SessionStates:
    """Tells each change once. Any thread may change the state. A host that only reads the states for itself
    does not want to show them; without a wish in the environment there are none."""

    def __init__(self, env: Mapping[str, str], tell: Callable[[State, bool], None]) -> None:
        self._hidden = not _is_on(env, _PLAIN)
        self._wanted = not self._hidden or _is_on(env, _FOR_HOST)
        self._tell = tell
        self._lock = threading.Lock()
        self._now: State = "idle"

    def change(self, state: State) -> None:
        with self._lock:
            if state != self._now:
                self._now = state
                if self._wanted:
                    self._tell(state, self._hidden)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While the host has to decide something."""
        self.change("requires_action")
        try:
            yield
        finally:
            self.change("running")


def _is_on(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "").strip().lower() not in _FALSE
