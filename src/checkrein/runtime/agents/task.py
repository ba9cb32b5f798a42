"""One subagent at work: its state, its report, and what it took."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from checkrein.llm.port import Cancel, Message, Usage
from checkrein.runtime.session.events import Event, ReplyCompleted, ToolFinished
from checkrein.runtime.store.kept_task import KeptTask, TaskState

if TYPE_CHECKING:
    from checkrein.runtime.agents.talk import Talk
    from checkrein.runtime.session.wakes import Wake

_TICK = 0.25


class Order(Struct, frozen=True, kw_only=True):
    """What a call of Agent, or a skill with `context: fork`, asks for. `type` None leaves the choice to us.
    `allowed` are rules that hold for it as far as they hold for its parent. With `wait` its caller needs the
    report at once."""

    description: str
    prompt: str
    type: str | None = None
    model: str | None = None
    name: str | None = None
    mode: str | None = None
    background: bool | None = None
    wait: bool = False
    isolation: str | None = None
    effort: str | None = None
    allowed: tuple[str, ...] = ()
    team: str | None = None


class Report(Struct, frozen=True, kw_only=True):
    """How a subagent ended, and its last words. `cut` says why the words are not all."""

    state: TaskState
    text: str
    cut: str = ""


class Life(Protocol):
    """How a subagent goes on after its first turn, if it does not simply end. `end` returns what its parent
    must know of its end."""

    @property
    def resting(self) -> bool: ...
    def turns(self, session: Talk, prompt: str | Wake) -> Iterator[Event]: ...
    def end(self) -> str: ...


class AgentTask:
    """Safe to use from several threads. `path` is the file that gets the report, `above` the agent that
    started it: None for the main conversation. `after` is what its parent gets besides the report."""

    def __init__(self, kept: KeptTask, path: str, *, above: str | None = None) -> None:
        self.kept = kept
        self.path = path
        self.above = above
        self.session: Talk | None = None
        self.calls = 0
        self.usage = Usage()
        self.began = self.heard = time.monotonic()
        self.ended: float | None = None
        self.by_user = kept.on_purpose
        self.stalled = False
        self.isolated = False
        self.messages: tuple[Message, ...] = ()
        self._talking = threading.Lock()
        self._listens = True
        self.life: Life | None = None
        self.after = ""
        self._changing = threading.Lock()
        self.settling = threading.RLock()
        self.let_go = threading.Event()
        self._done = threading.Event()
        if kept.state != "running":
            self._done.set()

    @property
    def id(self) -> str:
        return self.kept.id

    @property
    def state(self) -> TaskState:
        return self.kept.state

    @property
    def resting(self) -> bool:
        """Whether it waits for others to speak to it."""
        return self.life is not None and self.life.resting

    def change(self, **fields: Any) -> KeptTask:
        with self._changing:
            self.kept = replace(self.kept, **fields)
            return self.kept

    @property
    def words(self) -> str:
        return f"{self.kept.description} ({self.kept.type})"

    @property
    def duration_ms(self) -> int:
        return int(((self.ended or time.monotonic()) - self.began) * 1000)

    def hear(self, event: Event) -> None:
        """Learn from an event of the subagent, or of one below it."""
        self.heard = time.monotonic()
        if isinstance(event, ReplyCompleted):
            self.usage = self.usage + event.reply.usage
        elif isinstance(event, ToolFinished) and event.caller == "model":
            self.calls += 1

    def begin(self, kept: KeptTask) -> None:
        """It works again."""
        self.kept = kept
        self.began = self.heard = time.monotonic()
        self.ended = None
        self.stalled = False
        self._listens = True
        self._done.clear()

    def say(self, message: str) -> bool:
        """Tell it something while it works. False when it has made its last turn."""
        with self._talking:
            if self.session is None or not self._listens:
                return False
            self.session.control.send(message)
            return True

    def waiting(self, *, last: bool = False) -> str | None:
        """What it was told and has not heard. When that is nothing, or with `last`, it listens no more."""
        with self._talking:
            found = []
            while self.session is not None and (text := self.session.control.take_text()) is not None:
                found.append(text)
            self._listens = bool(found) and not last
            return "\n\n".join(found) or None

    def end(self, kept: KeptTask) -> None:
        self.kept = kept
        self.ended = time.monotonic()
        self.session = None
        self.life = None
        self._done.set()

    def wait(self, seconds: float, cancel: Cancel) -> bool:
        """Whether it has ended, within so many seconds. A teammate that rests is not awaited."""
        until = time.monotonic() + seconds
        while not self._done.is_set() and not cancel.cancelled and not self.resting:
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._done.wait(min(_TICK, left))
        return self._done.is_set()

    def ended_within(self, seconds: float) -> bool:
        return self._done.wait(seconds)

    def stop(self) -> None:
        """End it now. The user or its parent wants that."""
        self.by_user = True
        session = self.session
        if session is not None:
            session.control.stop()
