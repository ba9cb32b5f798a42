"""What starts a turn by itself: the end of a task, a message of another agent, a timer that is due.

A running turn takes notes before its next request. An idle session makes a turn of the oldest wake. Any
thread may put one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from checkrein.runtime.session.events import Event


def _nothing() -> None:
    pass


class Wake(Struct, frozen=True, kw_only=True):
    """`text` is for the model, `event` says the same for people and programs. A `prompt` counts as typed by
    the user: hooks see it, it may name a command, and it never enters a running turn. With an `author`,
    somebody else wrote it: it names no command, and the model learns who. `awaited`: a run with a single
    prompt does not end without it. The conversation calls `taken` when it has the text."""

    text: str
    source: str
    event: Event | None = None
    prompt: bool = False
    author: str = ""
    awaited: bool = False
    taken: Callable[[], None] = _nothing


class Source(Protocol):
    """Something that becomes due while nobody looks."""

    def due(self) -> Sequence[Wake]:
        """What has become due since the last call; each wake once."""
        ...

    @property
    def awaited(self) -> bool:
        """Whether a wake will come that a run with a single prompt waits for."""
        ...


class Wakes:
    """The wakes of one conversation, and the events of its work in the background."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._waiting: deque[Wake] = deque()
        self._events: deque[Event] = deque()
        self._sources: tuple[Source, ...] = ()
        self._idle_sources: tuple[Source, ...] = ()
        self._listener: Callable[[], None] = _nothing
        self._onlooker: Callable[[Event], object] | None = None

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this whenever there is something new, in the thread that brings it."""
        self._listener = listener

    def watch(self, onlooker: Callable[[Event], object]) -> None:
        """Let somebody see each event of the background at once, in the thread that brings it. The
        conversation takes it in later all the same."""
        self._onlooker = onlooker

    def join(self, source: Source, *, idle: bool = False) -> None:
        """With `idle`, only a session that has nothing else to do looks at it, so nothing of it waits."""
        with self._change:
            if idle:
                self._idle_sources = (*self._idle_sources, source)
            else:
                self._sources = (*self._sources, source)

    def put(self, wake: Wake) -> None:
        with self._change:
            self._waiting.append(wake)
            self._change.notify_all()
        self._listener()

    def tell(self, event: Event) -> None:
        """Something happened outside the turns of the conversation."""
        if self._onlooker is not None:
            self._onlooker(event)
        with self._change:
            self._events.append(event)
            self._change.notify_all()
        self._listener()

    def stir(self) -> None:
        """Let whoever waits look again."""
        with self._change:
            self._change.notify_all()

    def heard(self) -> list[Event]:
        with self._change:
            heard = list(self._events)
            self._events.clear()
            return heard

    def notes(self) -> list[Wake]:
        """Take what a running turn may have now."""
        self._look(self._sources)
        with self._change:
            found = [wake for wake in self._waiting if not wake.prompt]
            self._waiting = deque(wake for wake in self._waiting if wake.prompt)
            return found

    def next(self) -> Wake | None:
        """Take the oldest one, for a turn of its own."""
        self._look(self._sources)
        if not self._waiting:
            self._look(self._idle_sources)
        with self._change:
            return self._waiting.popleft() if self._waiting else None

    @property
    def awaited(self) -> bool:
        """Whether a run with a single prompt has to wait, or to go on."""
        with self._change:
            sources = (*self._sources, *self._idle_sources)
        if any(source.awaited for source in sources):
            return True
        with self._change:  # a source that has just ended has put its wake before
            return any(wake.awaited for wake in self._waiting)

    def wait(self, seconds: float) -> None:
        """Return when there is something new, at the latest after so many seconds."""
        with self._change:
            if not self._waiting and not self._events:
                self._change.wait(seconds)

    def _look(self, sources: Sequence[Source]) -> None:
        for source in sources:
            for wake in source.due():
                self.put(wake)
