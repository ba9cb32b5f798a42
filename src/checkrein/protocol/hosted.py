"""A session that a program drives: frames on standard input and output, in both directions at any time."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack

from msgspec.structs import replace

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.facts.claude import SDK_ENV
from checkrein.protocol.control_requests import SLOW, ControlRequests
from checkrein.protocol.handshake import Greeting, read
from checkrein.protocol.heartbeats import Heartbeats
from checkrein.protocol.held_reply import HeldReply
from checkrein.protocol.host_asker import HostAsker
from checkrein.protocol.host_hooks import add_hooks
from checkrein.protocol.host_servers import exchange_with
from checkrein.protocol.host_watch import HostWatch
from checkrein.protocol.inbox import Inbox, Unusable, Waiting
from checkrein.protocol.last_words import LastWords
from checkrein.protocol.requests import Requests
from checkrein.protocol.run import Job, failed, open_session
from checkrein.protocol.session_states import SessionStates, State
from checkrein.protocol.signals import Signals, interrupting
from checkrein.protocol.stream_json import FrameOptions, Frames
from checkrein.protocol.waits import Waits
from checkrein.protocol.wire import Frame, LineReader, LineWriter
from checkrein.runtime.session.control import Prompt, Typed
from checkrein.runtime.session.events import Event, Finished, Notice, SessionStarted
from checkrein.runtime.session.idle import idle_of
from checkrein.runtime.session.session import Session
from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.turn.put_off import AGAIN

_PATIENCE = 1.0
"""Seconds for the first word of a program that is not the SDK: timers of a resumed session need none."""

Place = Callable[[Greeting | None], AbstractContextManager[Job]]
"""Makes the job when the host has said what it brings; it stays open while the session runs."""


class HostedRun:
    """One process, one session, until the input ends. `asks` lets the host decide about calls. `warnings`
    come after the first `system/init`."""

    def __init__(
        self, frames: FrameOptions, last: LastWords, *, asks: bool, warnings: tuple[str, ...] = ()
    ) -> None:
        self._last = last
        self._warnings = [Notice("warning", text) for text in warnings]
        self._asks = asks
        self._out = LineWriter()
        self._made = Frames(replace(frames, hosted=True))
        self._showing = threading.Lock()
        self._shown: list[Event] = []
        self._requests = Requests(self._out)
        self._inbox = Inbox(self._out, self._requests)
        self._states = SessionStates(os.environ, self._tell_state)

    def note(self, notes: Iterable[str]) -> None:
        """Say something to people in the first frame."""
        self._made.options = replace(self._made.options, notes=(*self._made.options.notes, *notes))

    def run(self, place: Place) -> int:
        """Read from the first moment on. Returns the exit status."""
        reader = LineReader(self._inbox.take)
        reader.start()
        try:
            first = self._inbox.greeting(None if SDK_ENV in os.environ else _PATIENCE)
            return self._greeted(place, None if first is None else self._understood(first))
        finally:
            reader.close()

    def _understood(self, frame: Frame) -> Greeting:
        try:
            return read(frame)
        except CheckreinError as error:
            self._refuse(frame, error)
            raise

    def _greeted(self, place: Place, greeting: Greeting | None) -> int:
        if greeting is not None and greeting.subagent_text:
            self._made.options = replace(self._made.options, subagent_text=True)
        with interrupting() as signals, ExitStack() as opened:
            session = self._opened(opened, place, greeting, signals)
            self._serve(session, signals, greeting)
            self._last.status = status = signals.status or failed(session)
        return status

    def _opened(
        self, opened: ExitStack, place: Place, greeting: Greeting | None, signals: Signals
    ) -> Session:
        beats = Heartbeats(lambda call, seconds: self._out.write(self._made.progress(call, seconds)))
        waits = Waits(lambda text: self._show(Notice("info", text)), retries=False)
        job = opened.enter_context(place(greeting))
        if self._asks:
            job = replace(job, asker=HostAsker(self._requests, self._states))
        session = opened.enter_context(open_session(job, signals, self._show, (waits, beats)))
        opened.enter_context(HostWatch(self._out, session.control.stop))
        self._made.session_id = session.id
        return session

    def _serve(self, session: Session, signals: Signals, greeting: Greeting | None) -> None:
        requests = ControlRequests(session, self._made.options.api_key_source, self._show_now)
        session.consumers.append(self._inbox.show)
        session.control.wakes.watch(self._show_now)
        session.control.exchange = exchange_with(self._requests)
        session.mirror(self._mirror)
        try:
            self._begin(session, requests, greeting)
            self._play(session, signals)
        except UsageError as error:
            self._last.told = False
            self._last.show(session.refuse(error.message))
            raise
        finally:
            self._inbox.close()

    def _begin(self, session: Session, requests: ControlRequests, greeting: Greeting | None) -> None:
        """Greet the host. A call that was put off comes up again before anything else."""

        def greet() -> None:
            if greeting is not None:
                self._inbox.reply(greeting.frame, lambda: requests.greeted(greeting))
            self._inbox.attach(session.control, requests.handlers, SLOW)

        if greeting is not None:
            add_hooks(greeting.hooks, session.control, self._requests)
            session.servers.greet()
        if session.conversation.state.deferred is None:
            greet()
            return
        held = HeldReply(greet)
        session.consumers.append(held.take)
        try:
            self._turn(session, AGAIN)
        finally:
            held.release()
            session.consumers.remove(held.take)

    def _play(self, session: Session, signals: Signals) -> None:
        """Run every prompt. A run that a signal ends before its first prompt has a result too."""
        for prompt in signals.awaited(self._inbox.prompts(idle_of(session, self._last.show))):
            self._made.about = _about(self._inbox.current)
            if isinstance(prompt, Unusable):
                self._states.change("running")
                self._last.told = False
                self._last.show(session.refuse(prompt.reason))
            else:
                self._turn(session, prompt)
        self._last.release()
        if signals.leaving and session.result is None:
            self._last.show(session.refuse("Interrupted before the first prompt.", cut=True))

    def _turn(self, session: Session, prompt: Prompt | Typed | Wake) -> None:
        self._states.change("running")
        for event in session.run(prompt):
            self._last.show(event)
        if session.control.interrupted:
            self._requests.give_up()

    def _show(self, event: Event) -> None:
        """Write an event. The state that follows a result is settled before the host can react to it."""
        ends = isinstance(event, Finished) and event.agent_id is None
        busy = ends and self._inbox.busy
        with self._showing:
            if event in self._shown:
                self._shown.remove(event)
                return
            told: list[Event] = [event]
            if isinstance(event, SessionStarted):
                told += self._warnings
            self._warnings = [] if len(told) > 1 else self._warnings
            for frame in (frame for one in told for frame in self._made.of(one)):
                self._out.write(frame)
        if ends and not busy:
            self._states.change("idle")

    def _show_now(self, event: Event) -> None:
        """Write an event of the background while a turn is at work. The turn brings it again."""
        with contextlib.suppress(OSError), self._showing:
            self._shown.append(event)
            for frame in self._made.of(event):
                self._out.write(frame)

    def _mirror(self, path: str, entries: list[Frame]) -> None:
        with contextlib.suppress(OSError):
            self._out.write({"type": "transcript_mirror", "filePath": path, "entries": entries})

    def _tell_state(self, state: State, hidden: bool) -> None:
        with contextlib.suppress(OSError):
            self._out.write(self._made.state(state, hidden))

    def _refuse(self, frame: Frame, error: CheckreinError) -> None:
        def fail() -> Frame:
            raise error

        self._inbox.reply(frame, fail)


def _about(waiting: Waiting) -> Frame:
    """What the result says about its prompt: who sent it, and the id that the sender gave it."""
    about: Frame = {}
    if isinstance(waiting.prompt, Wake):
        about["origin"] = {"kind": "task-notification" if waiting.prompt.awaited else "auto-continuation"}
    elif waiting.origin is not None:
        about["origin"] = waiting.origin
    if waiting.uuid is not None:
        about["user_message_uuid"] = waiting.uuid
    return about
