"""What subagents need of a session: theirs, and their parent's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from checkrein.runtime.session.control import Control, Prompt
from checkrein.runtime.session.conversation import Child, Conversation
from checkrein.runtime.session.events import Event, Result
from checkrein.runtime.session.wakes import Wake


class Turns(Protocol):
    """The events of one turn. `close` ends it."""

    def __iter__(self) -> Iterator[Event]: ...
    def close(self) -> None: ...


class Talk(Protocol):
    """Implemented by Session."""

    conversation: Conversation
    control: Control
    result: Result | None
    consumers: list[Callable[[Event], None]]

    def child(self, asked: Child) -> Talk: ...
    def run(self, prompt: Prompt | Wake) -> Turns: ...
    def idle_events(self) -> list[Event]: ...
    def close(self) -> None: ...
