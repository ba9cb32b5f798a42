"""A session: a project, a model, and everything said between them.

`run(prompt)` gives the events of one prompt; iterate them plainly or with `async for`. Leaving the iterator
early interrupts the turn and ends its children. `close` (or `with`) ends the session.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from checkrein.base.errors import UsageError
from checkrein.base.ids import new_uuid
from checkrein.facts.claude_hooks import HOOK_EVENTS, STOP_FAILURES
from checkrein.llm.port import Block, Cancel, Message, Model, Text, user
from checkrein.runtime.context.reminders import reminder
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.control import Asker, Control
from checkrein.runtime.session.events import (
    ContextAdded,
    Event,
    Finished,
    PromptAccepted,
    Result,
    SessionStarted,
    Transition,
)
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.start import start
from checkrein.runtime.store.rewind import begin, rewind_if_asked
from checkrein.runtime.turn.compactor import compact
from checkrein.runtime.turn.display import as_shown
from checkrein.runtime.turn.input import prepare
from checkrein.runtime.turn.loop import loop
from checkrein.runtime.turn.news import notice
from checkrein.runtime.turn.result import make_result
from checkrein.runtime.turn.turn import SessionTurn

if TYPE_CHECKING:
    from os import PathLike

    from checkrein.model.project import Project
    from checkrein.model.view import View
    from checkrein.runtime.session.engine import Engine
    from checkrein.runtime.session.reload import Watch
    from checkrein.runtime.session.stream import Stream
    from checkrein.runtime.session.telemetry import Telemetry
    from checkrein.runtime.store.checkpoints import Restored

Prompt = str | Sequence[Block]


class Session:
    """One conversation with one writer. For one thread; only `control` may be used from any."""

    def __init__(
        self,
        project: Project | View | str | PathLike[str] = ".",
        *,
        model: Model | str | None = None,
        options: Options | None = None,
        asker: Asker | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        from checkrein.runtime.session.assembly import assemble

        self.control = Control(asker)
        self.options = options or Options()
        self.engine: Engine = assemble(project, model, self.options, self.control, env)
        self.result: Result | None = None
        self._opened = False
        self._running = False
        self._closed = False
        self._watch: Watch | None = None
        self.consumers: list[Callable[[Event], None]] = []
        self._telemetry = self._start_telemetry()

    def _start_telemetry(self) -> Telemetry | None:
        if not self.engine.env.get("CHECKREIN_TELEMETRY__OTEL"):
            return None
        from checkrein.runtime.session.telemetry import is_wanted, telemetry

        if not is_wanted(self.engine.env):
            return None
        found = telemetry(self.engine.env)
        self.consumers.append(found.take)
        return found

    @property
    def id(self) -> str:
        return self.engine.recorder.writer.session_id

    def run(self, prompt: Prompt) -> Stream:
        """The events of one prompt. Nothing happens before the first event is asked for."""
        from checkrein.runtime.session.stream import Stream

        return Stream(self, prompt)

    def events(self, prompt: Prompt) -> Iterator[Event]:
        """Every event of one prompt, `Finished` last on every path; each is in the transcript before it is
        yielded."""
        if self._running or self._closed:
            state = "is busy with another prompt" if self._running else "is closed"
            raise UsageError(f"The session {state}.", kind="session_busy")
        self._running = True
        cancel = self.control.begin_turn()
        self.engine.state.begin_turn()
        self.engine.meter.restart()
        turn = SessionTurn(self.engine, cancel)
        began = time.monotonic()
        step = Transition("failed", "the session ended before the turn did")
        try:
            for event in self._open():
                yield self._kept(event)
            inner = self._turn(prompt, turn, cancel)
            while True:
                try:
                    event = next(inner)
                except StopIteration as end:
                    step = end.value
                    break
                yield self._kept(event)
        except GeneratorExit:
            self.control.interrupt()
            self._conclude(Transition("interrupted", "the caller left"), turn, began)
            raise
        except KeyboardInterrupt:
            self.control.interrupt()
            step = Transition("interrupted", "by the user")
        except Exception as error:
            self.engine.state.errors.append(f"{type(error).__name__}: {error}")
            step = Transition("failed", str(error))
        finally:
            self._running = False
            self.engine.gate.end_turn()
        yield self._conclude(step, turn, began)

    def _conclude(self, step: Transition, turn: SessionTurn, began: float) -> Finished:
        self.result = make_result(self.engine, turn, step, began)
        finished = Finished(self.result, new_uuid())
        self.engine.recorder.take(finished)
        self._tell(finished)
        return finished

    def _kept(self, event: Event) -> Event:
        """An event after it was recorded, as it is shown."""
        self.engine.recorder.take(event)
        shown = as_shown(self.engine, event)
        self._tell(shown)
        return shown

    def _tell(self, event: Event) -> None:
        """Consumers that fail do not disturb the session."""
        for consumer in self.consumers:
            with contextlib.suppress(Exception):
                consumer(event)

    def _open(self) -> Iterator[Event]:
        engine = self.engine
        view = engine.view
        source = engine.source
        yield SessionStarted(
            session_id=self.id,
            cwd=view.project.place.cwd,
            model=engine.state.model,
            mode=engine.gate.mode,
            tools=engine.toolbox.names(),
            commands=tuple(n for n, c in (view.commands | view.skills).items() if c.user_invocable),
            skills=tuple(n for n, s in view.skills.items() if s.model_invocable),
            agents=tuple(view.agents),
            servers=tuple((name, "pending") for name in view.servers),
            plugins=tuple((n, r.item.root) for n, r in view.project.plugins.items() if r.item.enabled),
            source=source,
        )
        if self._opened:
            return
        self._opened = True
        yield from start(engine)

    def _turn(self, prompt: Prompt, turn: SessionTurn, cancel: Cancel) -> Generator[Event, None, Transition]:
        """The prompt, after the message that a SessionStart hook wants said first."""
        engine = self.engine
        first, engine.initial_message = engine.initial_message, None
        if first is not None:
            step = yield from self._prompted(first, turn, cancel)
            if step.name != "done":
                return step
            engine.next_turn()
        return (yield from self._prompted(prompt, turn, cancel))

    def _prompted(
        self, prompt: Prompt, turn: SessionTurn, cancel: Cancel
    ) -> Generator[Event, None, Transition]:
        engine = self.engine
        uuid = new_uuid()
        engine.firing.update(prompt_id=uuid, permission_mode=engine.gate.mode)
        yield from rewind_if_asked(engine)
        yield from notice(engine, cancel)
        yield from self._refresh(cancel)
        prompted = yield from prepare(engine, prompt, cancel)
        if prompted.refused is not None:
            engine.state.blocked_prompt = prompted.refused
            return Transition("done", "the prompt was refused")
        if prompted.compact is not None:
            ended = yield from compact(engine, cancel, "manual", prompted.compact)
            return ended or Transition("done", "compacted")
        begin(engine, uuid)
        yield from self._say_before(prompted.before)
        message = Message("user", prompted.blocks)
        engine.state.append(message)
        yield PromptAccepted(uuid, message)
        step = yield from loop(turn)
        if step.name == "failed" and engine.state.failure is not None:
            yield from self._failed(engine.state.failure, step.detail)
        return step

    def _failed(self, kind: str, detail: str) -> Iterator[Event]:
        """Tell the StopFailure hooks why there is no answer; what they say changes nothing."""
        engine = self.engine
        last = engine.state.last
        payload = payloads.stop_failure(
            engine.firing.common,
            STOP_FAILURES.get(kind, kind if kind in HOOK_EVENTS["StopFailure"].values else "unknown"),
            last.text if last else detail,
            error_details=detail,
        )
        events: list[Event] = []
        engine.firing.fire(payload, events.append, Cancel())
        yield from events

    def rewind(self, uuid: str, *, files: bool = True, conversation: bool = False) -> Restored:
        """Go back to before the prompt `uuid`: its files, the conversation, or both. Between prompts only."""
        from checkrein.runtime.store.rewind import rewind

        if self._running or self._closed:
            raise UsageError("A session can only be rewound between prompts.", kind="session_busy")
        return rewind(self.engine, uuid, files=files, conversation=conversation)

    def _refresh(self, cancel: Cancel) -> Iterator[Event]:
        """Between prompts, look at the project's files again."""
        from checkrein.runtime.session.reload import Watch, refresh

        if self._watch is None:
            self._watch = Watch(self.engine.view.project.place)
        elif not self.options.bare:
            yield from refresh(self.engine, self._watch, cancel)

    def _say_before(self, added: Sequence[str]) -> Iterator[Event]:
        """Reminders that stand before a prompt: the opening ones once, then what hooks and mentions add."""
        engine = self.engine
        if not engine.state.messages:
            first = engine.prompt.first_message()
            if first.content:
                engine.state.append(first)
                engine.recorder.reminders(first)
        for text in (*engine.opening_context, *added):
            wrapped = reminder(text)
            engine.state.append(user(Text(wrapped)))
            yield ContextAdded(new_uuid(), wrapped, "hook")
        engine.opening_context = []

    def close(self) -> None:
        """Run the SessionEnd hooks, end all children, release the transcript. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        engine = self.engine
        try:
            if self._opened:
                events: list[Event] = []
                engine.firing.fire(
                    payloads.session_end(engine.firing.common, "other"), events.append, Cancel()
                )
        finally:
            engine.firing.runner.close()
            engine.spawner.close()
            engine.recorder.writer.close()
            if self._telemetry is not None:
                self._telemetry.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import asyncio

        await asyncio.to_thread(self.close)
