"""One member of a team: the lead, or a teammate."""

from __future__ import annotations

import re
import threading

from checkrein.runtime.session.events import Event, PromptAccepted, RequestSent, ToolFinished
from checkrein.runtime.session.wakes import Wake, Wakes
from checkrein.runtime.tools.port import ToolFailure

LEAD = "lead"
LEADS = frozenset((LEAD, "main", "team-lead", "coordinator"))
"""What the lead is called by others."""
EVERYBODY = "*"
MESSAGE = "message"
"""The source of a wake that is a message."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_TALK = frozenset(("SendMessage", "ListAgents", "TaskGet", "TaskList", "TaskOutput", "ToolSearch"))
"""Calls that are no work: a chain of messages goes on with them."""


def checked_name(name: str) -> str:
    if _NAME.fullmatch(name) is None or name.lower() in LEADS:
        raise ToolFailure(
            f"{name!r} can't be the name of a teammate. Use letters, digits, `-`, `_` and `.`, and none of "
            f"{', '.join(sorted(LEADS))}."
        )
    return name


def checked_team(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise ToolFailure(f"{name!r} can't be the name of a team. Use letters, digits, `-`, `_` and `.`.")
    return name


class Mate:
    """`hops` is the length of the chain of messages that led here, without any work in between. A message
    counts when it is read: what is said meanwhile does not follow from it. `leaving` ends a teammate after
    its turn. Safe to use from several threads."""

    def __init__(self, name: str, wakes: Wakes) -> None:
        self.name = name
        self.hops = 0
        self.leaving = False
        self._wakes = wakes
        self._lock = threading.Lock()
        self._resting = False
        self._unread_hops = 0

    @property
    def resting(self) -> bool:
        """Whether it waits for a message, and none is on its way."""
        with self._lock:
            return self._resting and not self.leaving and not self._wakes.awaited

    def rest(self) -> None:
        with self._lock:
            self._resting = True

    def next(self) -> Wake | None:
        """What ends its rest."""
        with self._lock:
            wake = self._wakes.next()
            if wake is not None:
                self._resting = False
                self._read()
            return wake

    def rise(self) -> None:
        """It works, or ends."""
        with self._lock:
            self._resting = False

    def leave(self) -> None:
        self.leaving = True
        self._wakes.stir()

    def unread(self) -> int:
        """How many messages came too late for it."""
        return sum(wake.source == MESSAGE for wake in self._wakes.notes())

    def put(self, wake: Wake, hops: int) -> None:
        with self._lock:
            if self._resting:
                self.hops = hops
            else:
                self._unread_hops = max(self._unread_hops, hops)
            self._wakes.put(wake)

    def _read(self) -> None:
        self.hops, self._unread_hops = max(self.hops, self._unread_hops), 0

    def hear(self, event: Event) -> None:
        """Learn from an event of its own: work ends the chain of messages, and so does the user."""
        if isinstance(event, RequestSent):
            with self._lock:
                self._read()
        asked = self.name == LEAD and isinstance(event, PromptAccepted)
        if asked or (isinstance(event, ToolFinished) and _is_work(event)):
            self.hops = 0


def _is_work(event: ToolFinished) -> bool:
    return event.caller == "model" and not event.is_error and event.name not in _TALK
