"""A subagent from its prompt to its last words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.facts import subagents
from checkrein.llm.port import Cancel
from checkrein.passes.agents import AgentType
from checkrein.runtime.agents.task import AgentTask, Report
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.channel import WAKE, drained
from checkrein.runtime.session.events import Event, Finished, ReplyCompleted, Result, SessionStarted
from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.skills.preload import preload
from checkrein.runtime.tools.port import Aside

if TYPE_CHECKING:
    from checkrein.runtime.agents.talk import Talk

Emit = Callable[[Event], object]
_API_ERROR = "Agent terminated early due to an API error"
_UNHEARD = "It ended before it heard the last message."


class Work:
    """Runs subagents. Those of one type and model that start together share the first one's prefix: the
    others wait until the service has read it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._patience = (
            subagents.limit(env, subagents.ENV_PREFIX_STAGGER_MS, subagents.PREFIX_STAGGER_MS) / 1000
        )
        self._lock = threading.Lock()
        self._first: dict[tuple[str, str], threading.Event] = {}

    def done(
        self,
        task: AgentTask,
        session: Talk,
        kind: AgentType | None,
        prompt: str | Wake,
        cancel: Cancel,
        emit: Emit,
    ) -> Report:
        """Its report. Never raises: whatever goes wrong is a report too."""
        try:
            with cancel.on_cancel(session.control.stop, lambda: session.control.stop(now=True)):
                return self._run(task, session, kind, prompt, emit)
        except Exception as error:
            return Report(state="failed", text="", cut=f"It ended with an error: {error}")

    def _run(
        self, task: AgentTask, session: Talk, kind: AgentType | None, prompt: str | Wake, emit: Emit
    ) -> Report:
        conversation = session.conversation
        said = emit

        def hear(event: Event) -> None:
            task.hear(event)
            said(event)

        def place(event: Event) -> None:
            session.control.wakes.tell(event)
            for one in session.idle_events():
                hear(one)

        if not conversation.state.messages or (conversation.link is not None and conversation.link.fork):
            self._begin(session, kind if task.life is None else None, place)
        key = (task.kept.type, conversation.state.model)
        with _Turnstile(self, key) as turnstile:
            self._wait(turnstile, session.control.cancel)
            turns = task.life.turns if task.life is not None else partial(turns_of, task)
            for event in turns(session, prompt):
                if isinstance(event, ReplyCompleted):
                    turnstile.open()
                if not (isinstance(event, SessionStarted | Finished) and event.agent_id == task.id):
                    hear(event)
        report = _report(session.result, conversation.state.words)
        if task.waiting(last=True) is not None:
            report = replace(report, cut=f"{report.cut} {_UNHEARD}".lstrip())
        return report

    def _wait(self, turnstile: _Turnstile, cancel: Cancel) -> None:
        if turnstile.before is not None:
            left = self._patience
            while left > 0 and not turnstile.before.wait(min(WAKE, left)) and not cancel.cancelled:
                left -= WAKE

    def _begin(self, session: Talk, kind: AgentType | None, emit: Emit) -> None:
        """The hooks of its start, and the skills that it begins with."""
        conversation = session.conversation
        payload = payloads.subagent_start(conversation.hooks.common)
        outcome = drained(conversation.hooks.fire(payload, session.control.cancel), emit)
        opening = conversation.backdrop.opening_context
        masked = conversation.services.kept.vault.masked
        opening += [masked(one.text) for one in outcome.additional_context]
        preload(conversation, kind.skills if kind is not None else (), Aside(session.control.cancel, emit))


class _Turnstile:
    """One of several that start together: `before` is what the first one opens."""

    def __init__(self, work: Work, key: tuple[str, str]) -> None:
        self._work = work
        self._key = key
        with work._lock:
            self.before = work._first.get(key)
            self._mine = None if self.before is not None else threading.Event()
            if self._mine is not None:
                work._first[key] = self._mine

    def open(self) -> None:
        if self._mine is not None:
            self._mine.set()

    def __enter__(self) -> _Turnstile:
        return self

    def __exit__(self, *error: object) -> None:
        if self._mine is not None:
            self._mine.set()
            with self._work._lock:
                self._work._first.pop(self._key, None)


def turns_of(task: AgentTask, session: Talk, prompt: str | Wake) -> Iterator[Event]:
    """Its turns: that of the prompt, and those that its own tasks start, until it awaits nothing."""
    following: str | Wake | None = prompt
    wakes = session.control.wakes
    while following is not None:
        with closing(session.run(following)) as stream:
            yield from stream
        following = None
        if session.result is None or session.result.is_error:
            return
        while following is None and wakes.awaited and not session.control.interrupted:
            yield from session.idle_events()
            following = wakes.next()
            if following is None:
                wakes.wait(WAKE)
        following = following or task.waiting()


def _report(result: Result | None, words: str) -> Report:
    if result is None:
        return Report(state="failed", text="", cut="It ended before its first turn.")
    if not result.is_error:
        return Report(state="completed", text=result.text)
    match result.terminal_reason:
        case "max_turns":
            return Report(
                state="completed", text=result.text, cut="It reached its limit of turns before it was done."
            )
        case "aborted_streaming" | "aborted_tools":
            return Report(state="stopped", text=result.text, cut="It was interrupted before it was done.")
        case "api_error" | "prompt_too_long":
            return Report(state="failed", text=words, cut=f"{_API_ERROR}: {result.problem}")
    return Report(state="failed", text=result.text, cut="; ".join(result.errors))
