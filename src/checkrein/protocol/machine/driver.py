"""Drive a session from outside, within time limits.

`cancel_observed` comes from the worker: true when the turn ended within the grace after a stop. Otherwise the
driver marks the session `suspect` in its transcript and closes it, so that nobody adds to it later.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.clock import timestamp
from checkrein.base.errors import CheckreinError
from checkrein.protocol.machine.sessions import load_session
from checkrein.protocol.machine.setup import Setup, choose_model, options_of, project_of
from checkrein.protocol.machine.worker import Ended, Worker
from checkrein.runtime.session.events import (
    Compacted,
    Denial,
    Event,
    Finished,
    PermissionDenied,
    Result,
    ToolFinished,
    ToolStarted,
)
from checkrein.runtime.session.idle import and_what_follows, idle_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from checkrein.base.diagnostic import Diagnostic
    from checkrein.llm.port import ModelRequestError, Usage
    from checkrein.runtime.session.session import Session

_MARKING = 0.5
"""The time limit for the mark; it may wait for a lock that the work holds."""


class Ran(Struct, frozen=True, kw_only=True):
    """The run of one prompt. `result` is None when the turn did not start or did not acknowledge its end."""

    prompt: str
    result: Result | None
    late: bool = False
    observed: bool = True
    stop: KeyboardInterrupt | None = None
    denials: tuple[Denial, ...] = ()
    tools: tuple[ToolFinished, ...] = ()
    compactions: tuple[Compacted, ...] = ()
    refused: bool = False
    failure: ModelRequestError | None = None


class Driver:
    """Use with `with`. `open`, then `run` for each prompt. `until` is the end of its total time."""

    def __init__(
        self,
        setup: Setup,
        until: float | None,
        grace: float,
        listen: Callable[[Event], None] | None = None,
    ) -> None:
        self._listen = listen
        self.setup = setup
        self.until = until
        self.grace = grace
        self.suspect = False
        self.was_suspect = False
        self.denied: tuple[str, ...] = ()
        self._worker = Worker()
        self._session: Session | None = None
        self._seen: list[Event] = []
        self._open_calls: dict[str, str] = {}
        self._cancelled = False

    def open(self) -> Ended[None]:
        """Load the project, find the model, open the session. Raises the error of any of them."""
        ended = self._worker.do(self._start, until=self.until, grace=self.grace, interrupt=lambda: None)
        self._cancelled = ended.late
        return ended

    def _start(self) -> None:
        from checkrein.runtime.session.session import Session

        project = project_of(self.setup)
        self._model = choose_model(self.setup, project)
        options = options_of(self.setup, persist=True)
        self.denied = options.disallowed
        try:
            if self.setup.resume is not None:
                loaded, _ = load_session(self.setup.resume, self.setup.directory, self.setup.project)
                self.was_suspect = loaded.suspect is not None
            self._session = Session(project, model=self._model, options=options)
        except CheckreinError as error:
            target = self.setup.resume or self.setup.session_id or self.setup.project
            raise error.during("open_session", target) from error
        if self._cancelled:
            self._session.close()  # nobody waits for it now, so it must leave nothing behind
        elif self.setup.resume is None:
            talk = self._session.conversation
            talk.recorder.writer.state(model=talk.models.name, mode=talk.gate.mode)

    @property
    def is_open(self) -> bool:
        return self._session is not None

    @property
    def session(self) -> Session:
        assert self._session is not None, "call open first"
        return self._session

    @property
    def usage(self) -> Usage:
        """The usage of the session since `open`."""
        from checkrein.llm.port import Usage

        return self._session.conversation.meter.usage if self._session else Usage()

    @property
    def skipped(self) -> tuple[Diagnostic, ...]:
        return self._session.conversation.services.skipped if self._session else ()

    def run(self, prompt: str, until: float | None) -> Ran:
        """Run one prompt, at most until `until`."""
        self._seen = []
        ended = self._worker.do(
            lambda: self._play(prompt), until=until, grace=self.grace, interrupt=self._interrupt
        )
        self._cancelled = ended.late
        if ended.late and not ended.observed:
            self._give_up("a signal" if ended.stop else "the time limit")
        result = next((event.result for event in self._seen if isinstance(event, Finished)), None)
        return Ran(
            prompt=prompt,
            result=result if ended.observed else None,
            late=ended.late,
            observed=ended.observed,
            stop=ended.stop,
            denials=tuple(event.denial for event in self._of(PermissionDenied)),
            tools=tuple(self._of(ToolFinished)),
            compactions=tuple(self._of(Compacted)),
            refused=self.session.conversation.state.blocked_prompt is not None,
            failure=self._model.error,
        )

    def _of(self, kind: type[Any]) -> Iterator[Any]:
        """The events of the session's own conversation."""
        own = (event for event in list(self._seen) if event.agent_id is None)
        return (event for event in own if isinstance(event, kind))

    def _play(self, prompt: str) -> None:
        for turn in and_what_follows(prompt, idle_of(self.session, self._hear)):
            for event in self.session.run(turn):
                self._hear(event)

    def _hear(self, event: Event) -> None:
        if isinstance(event, ToolStarted):
            self._open_calls[event.id] = event.name
        elif isinstance(event, ToolFinished):
            self._open_calls.pop(event.id, None)
        self._seen.append(event)
        if self._listen is not None:
            self._listen(event)

    def _interrupt(self) -> None:
        if self._session is not None:
            self._session.control.interrupt()

    def _give_up(self, why: str) -> None:
        """The work did not answer. Note that in the transcript, and let nobody add to it."""
        self.suspect = True
        marking = threading.Thread(target=self._mark, args=(why,), daemon=True)
        marking.start()
        marking.join(_MARKING)

    def _mark(self, why: str) -> None:
        writer = self.session.conversation.recorder.writer
        facts = {
            "reason": f"{why} passed, and the turn did not acknowledge the cancellation",
            "grace_seconds": self.grace,
            "open_calls": list(self._open_calls.values()),
            "at": timestamp(),
        }
        text = f"Cancelled by {why} without an acknowledgement."
        result = Result(
            subtype="error_during_execution",
            is_error=True,
            session_id=writer.session_id,
            terminal_reason="aborted_tools",
            errors=(text,),
        )
        import msgspec

        with contextlib.suppress(CheckreinError, OSError):
            writer.state(suspect=facts)
            writer.result(msgspec.to_builtins(result))
            writer.close()

    def close(self) -> None:
        """Run the SessionEnd hooks and end the children, within the remaining time or at least the grace."""
        if self._session is None or self.suspect:
            return
        soon = time.monotonic() + self.grace
        until = soon if self._cancelled else None if self.until is None else max(self.until, soon)
        self._worker.do(self._session.close, until=until, grace=0.0, interrupt=lambda: None)

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
