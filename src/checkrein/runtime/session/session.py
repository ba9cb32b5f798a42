"""A session: a project, a model, and the conversation between them.

`run(prompt)` gives the events of one prompt; iterate them plainly or with `async for`. Leaving the iterator
early interrupts the turn and ends its children. `close` (or `with`) ends the session.
"""

from __future__ import annotations

import contextlib
import time
import warnings
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from checkrein.base.errors import UsageError
from checkrein.base.ids import new_uuid
from checkrein.facts.claude_hooks import HOOK_EVENTS, STOP_FAILURES
from checkrein.llm.port import Cancel, Model, ToolUse
from checkrein.runtime.call.host import Aside, Done
from checkrein.runtime.hooks import payloads
from checkrein.runtime.process.command import GRACE
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.session.control import Answerer, Asker, Control
from checkrein.runtime.session.control import Prompt as Prompt
from checkrein.runtime.session.events import (
    Event,
    Finished,
    HookFinished,
    Result,
    SessionStarted,
    Transition,
)
from checkrein.runtime.session.graces import PROCESSES_UNTIL, SESSION_END_UNTIL, TOOLS_UNTIL
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.rewind import rewind, rewind_if_asked
from checkrein.runtime.session.start import await_servers, start
from checkrein.runtime.turn.compactor import compact
from checkrein.runtime.turn.directories import take_directories
from checkrein.runtime.turn.display import as_shown
from checkrein.runtime.turn.intake import accept, take_sent
from checkrein.runtime.turn.loop import loop
from checkrein.runtime.turn.news import notice
from checkrein.runtime.turn.result import make_result, refused_result, unrecorded
from checkrein.runtime.turn.transitions import stopped
from checkrein.runtime.turn.turn import SessionTurn

if TYPE_CHECKING:
    from os import PathLike

    from checkrein.model.project import Project
    from checkrein.model.view import View
    from checkrein.runtime.session.conversation import Child, Conversation
    from checkrein.runtime.session.reload import Watch
    from checkrein.runtime.session.services import Services
    from checkrein.runtime.session.stream import Stream
    from checkrein.runtime.store import SessionWriter
    from checkrein.runtime.store.checkpoints import Restored
    from checkrein.runtime.tools.port import AnyTool


def _end(services: Services, writer: SessionWriter) -> None:
    """End what a session holds that the program never closed: its processes and its transcript. Its hooks do
    not run."""
    warnings.warn("A session was never closed. Use `with`, or call close().", ResourceWarning, stacklevel=2)
    try:
        services.close()
    finally:
        writer.close()


class Session:
    """One conversation with one writer, the root of a tree or below another. For one thread; only `control`
    is for any thread."""

    def __init__(
        self,
        project: Project | View | str | PathLike[str] = ".",
        *,
        model: Model | str | None = None,
        options: Options | None = None,
        asker: Asker | None = None,
        answerer: Answerer | None = None,
        tools: Sequence[AnyTool] = (),
        env: dict[str, str] | None = None,
    ) -> None:
        """`tools` are a program's own; one with the name of a built-in tool replaces it. `env` None takes
        the environment of the process."""
        from checkrein.runtime.session.assembly import Asked, open_root

        asked = Asked(project=project, model=model, options=options or Options(), tools=tuple(tools), env=env)
        self._sit_down(open_root(asked, Control(asker, answerer), self._help))
        telemetry = self.conversation.services.telemetry
        if telemetry is not None:
            self.consumers.append(telemetry.take)

    def _sit_down(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.control = conversation.control
        self.options = conversation.options
        self.result: Result | None = None
        self.consumers: list[Callable[[Event], None]] = []
        self._opened = False
        self._turn_now: tuple[SessionTurn, float] | None = None
        self._running = False
        self._closed = False
        self._watch: Watch | None = None
        self._children: list[Session] = []
        self.streaming: Stream | None = None
        if conversation.link is None:
            self._left_open = weakref.finalize(
                self, _end, conversation.services, conversation.recorder.writer
            )

    def child(self, asked: Child) -> Session:
        """Make another conversation below this one; there is no other way. What binds this one binds the
        child: rules, tools, mode, trust, environment, hooks, budget. Close it when its work is done. It ends
        with this session at the latest, which closes what they share."""
        from checkrein.runtime.session.assembly import open_child

        if self._closed:
            raise UsageError("The session is closed.", kind="session_busy")
        session = Session.__new__(Session)
        session._sit_down(open_child(self.conversation, asked, session._help))
        self._children = [*(one for one in self._children if not one._closed), session]
        return session

    def call(self, use: ToolUse, cancel: Cancel | None = None) -> Done:
        """Run one call of a tool without a model, through hooks and gate. The transcript keeps it."""
        return self.conversation.host.call_aside(use, Aside(cancel or Cancel(), self._kept), "program")

    def _help(
        self, prompt: str, model: str | None, call: str, cancel: Cancel, emit: Callable[[Event], None]
    ) -> str:
        from checkrein.runtime.agents.helper import run_helper

        return run_helper(self, prompt, model, call, cancel, emit)

    @property
    def id(self) -> str:
        return self.conversation.session_id

    def run(self, prompt: Prompt) -> Stream:
        """The events of one prompt. Nothing happens before the caller takes the first event."""
        from checkrein.runtime.session.stream import Stream

        return Stream(self, prompt)

    def events(self, prompt: Prompt) -> Iterator[Event]:
        """Every event of one prompt, `Finished` last on every path. The transcript has each event before the
        caller does."""
        if self._running or self._closed:
            state = "is busy with another prompt" if self._running else "is closed"
            raise UsageError(f"The session {state}.", kind="session_busy")
        self._running = True
        began = time.monotonic()
        self.conversation.state.begin_turn()
        self.conversation.meter.restart()
        cancel = self.control.begin_turn(self.conversation.meter.deadline)
        turn = SessionTurn(self.conversation, cancel)
        self._turn_now = turn, began
        step = Transition("failed", "the session ended before the turn did")
        try:
            for event in self._open():
                yield self._kept(event)
            inner = self._turn(prompt, turn, cancel)
            while True:
                try:
                    event = next(inner)
                except StopIteration as end:
                    step = self._uncut(end.value, cancel)
                    break
                yield self._kept(event)
        except KeyboardInterrupt:
            self.control.interrupt()
            step = Transition("interrupted", "by the user")
        except Exception as error:
            self.conversation.state.errors.append(f"{type(error).__name__}: {error}")
            step = Transition("failed", str(error))
        except BaseException:  # the caller left, or code of a program ends more than its call
            self.control.interrupt()
            self._conclude(Transition("interrupted", "the caller left"), turn, began)
            raise
        finally:
            self._running = False
            self.conversation.gate.end_turn()
        yield self._conclude(step, turn, began)

    def refuse(self, reason: str, *, cut: bool = False) -> Event:
        """Give the session its result when there is no next prompt: it can not be read, or (`cut`) the
        session ends before. A session that has begun records it."""
        self.result = refused_result(self.conversation, reason, cut=cut)
        finished = Finished(self.result, new_uuid())
        return self._kept(finished) if self._opened else finished

    def give_up(self) -> Event:
        """The result of a turn that does not end. For another thread, which then ends the process."""
        if self._turn_now is None:
            return self.refuse("Interrupted before the first prompt.", cut=True)
        return self._conclude(stopped(self.control.cancel), *self._turn_now)

    def _uncut(self, step: Transition, cancel: Cancel) -> Transition:
        """The end of a turn. After a cancel no turn is done, not even one that had only hooks left."""
        return stopped(cancel) if step.name in ("done", "hook_stopped") and cancel.cancelled else step

    def _conclude(self, step: Transition, turn: SessionTurn, began: float) -> Event:
        """The one result. It comes out even when the session can't be recorded, and says so."""
        self.result = make_result(self.conversation, turn, step, began)
        uuid = new_uuid()
        try:
            return self._kept(Finished(self.result, uuid))
        except OSError as error:
            self.result = unrecorded(self.result, f"The session can't be recorded: {error}")
            finished = Finished(self.result, uuid)
            self._tell(finished)
            return finished

    def _kept(self, event: Event) -> Event:
        """Record an event and return it as shown. The events of a child are in the child's own transcript."""
        if isinstance(event, HookFinished):
            event = self._masked(event)
        if event.agent_id is None:
            self.conversation.recorder.take(event)
            event = self._placed(as_shown(self.conversation, event))
        self._tell(event)
        return event

    def _masked(self, event: HookFinished) -> Event:
        """Hooks may print secrets too."""
        mask = self.conversation.services.kept.vault.masked
        return replace(event, stdout=mask(event.stdout), stderr=mask(event.stderr), output=mask(event.output))

    def _placed(self, event: Event) -> Event:
        link = self.conversation.link
        if link is None:
            return event
        return replace(event, agent_id=link.agent_id, parent_call=event.parent_call or link.call)

    def _tell(self, event: Event) -> None:
        """A consumer that fails does not disturb the session."""
        for consumer in self.consumers:
            with contextlib.suppress(Exception):
                consumer(event)

    def _open(self) -> Iterator[Event]:
        conversation = self.conversation
        view = conversation.view
        source = conversation.record.opened.source
        if not self._opened and conversation.link is None:
            await_servers(conversation)
        yield SessionStarted(
            session_id=self.id,
            cwd=view.project.place.cwd,
            model=conversation.state.model,
            mode=conversation.gate.mode,
            tools=conversation.host.tools.names(),
            commands=tuple(n for n, c in (view.commands | view.skills).items() if c.user_invocable),
            skills=tuple(n for n, s in view.skills.items() if s.model_invocable),
            agents=tuple(view.agents),
            servers=conversation.services.server_states(),
            plugins=tuple((n, r.item.root) for n, r in view.project.plugins.items() if r.item.enabled),
            layers=conversation.services.layers.all,
            source=source,
        )
        if self._opened:
            return
        self._opened = True
        if conversation.link is None:
            yield from start(conversation)

    def _turn(self, prompt: Prompt, turn: SessionTurn, cancel: Cancel) -> Generator[Event, None, Transition]:
        """The prompt, after the message that a SessionStart hook puts first."""
        conversation = self.conversation
        first, conversation.backdrop.initial_message = conversation.backdrop.initial_message, None
        if first is not None:
            step = yield from self._prompted(first, turn, cancel)
            if step.name != "done":
                return step
            conversation.next_turn()
        return (yield from self._prompted(prompt, turn, cancel))

    def _prompted(
        self, prompt: Prompt, turn: SessionTurn, cancel: Cancel
    ) -> Generator[Event, None, Transition]:
        conversation = self.conversation
        uuid = new_uuid()
        conversation.hooks.update(prompt_id=uuid, permission_mode=conversation.gate.mode)
        yield from rewind_if_asked(conversation)
        yield from notice(conversation, cancel)
        yield from self._refresh(cancel)
        yield from take_directories(conversation, cancel)
        yield from take_sent(conversation, cancel)
        prompted = yield from accept(conversation, prompt, uuid, cancel)
        if prompted.refused is not None:
            conversation.state.blocked_prompt = prompted.refused
            return Transition("done", "the prompt was refused")
        if prompted.answer is not None:
            conversation.state.blocked_prompt = prompted.answer
            return Transition("done", "a command answered the prompt")
        if prompted.compact is not None:
            ended = yield from compact(conversation, cancel, "manual", prompted.compact)
            return ended or Transition("done", "compacted")
        step = yield from loop(turn)
        if conversation.link is None:
            yield from conversation.news_of_servers()
        if step.name == "failed" and conversation.state.failure is not None:
            yield from self._failed(conversation.state.failure, step.detail, cancel)
        return step

    def _failed(self, kind: str, detail: str, cancel: Cancel) -> Iterator[Event]:
        """Tell the StopFailure hooks why there is no answer. Their output changes nothing."""
        conversation = self.conversation
        last = conversation.state.last
        payload = payloads.stop_failure(
            conversation.hooks.common,
            STOP_FAILURES.get(kind, kind if kind in HOOK_EVENTS["StopFailure"].values else "unknown"),
            last.text if last else detail,
            error_details=detail,
        )
        yield from conversation.hooks.fire_past(payload, cancel)

    def rewind(self, uuid: str, *, files: bool = True, conversation: bool = False) -> Restored:
        """Go back to before the prompt `uuid`: its files, the conversation, or both. Between prompts only."""
        if self._running or self._closed:
            raise UsageError("You can rewind a session only between prompts.", kind="session_busy")
        return rewind(self.conversation, uuid, files=files, messages=conversation)

    def _refresh(self, cancel: Cancel) -> Iterator[Event]:
        """Between prompts, check the project's files again."""
        from checkrein.runtime.session.reload import Watch, refresh

        if self._watch is None:
            self._watch = Watch(self.conversation.view.project.place)
        elif not self.options.bare:
            yield from refresh(self.conversation, self._watch, cancel)

    def close(self) -> None:
        """Release the transcript. At the root of a tree, first run the SessionEnd hooks and end what the
        session started. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        conversation = self.conversation
        if conversation.link is None:
            self._left_open.detach()
        try:
            self._end_children()
            if self._opened and conversation.link is None:
                end = payloads.session_end(conversation.hooks.common, "other")
                stage = conversation.hooks.fire_past(end, self.control.cancel, until=SESSION_END_UNTIL)
                drained(stage, ignored)
        finally:
            self.control.end()
            try:
                conversation.close()
            finally:
                if conversation.link is None:
                    conversation.services.close(self._grace())

    def _grace(self) -> float:
        """The seconds that processes have to end by themselves: few after a cancel."""
        cancel = self.control.cancel
        if cancel.forced:
            return 0.0
        if cancel.at is None:
            return GRACE
        return max(0.1, min(GRACE, cancel.at + PROCESSES_UNTIL - time.monotonic()))

    def _end_children(self) -> None:
        """Nothing below outlives this conversation. A turn that still runs in another thread gets a moment to
        end."""
        for child in self._children:
            child.control.interrupt()
            limit = time.monotonic() + TOOLS_UNTIL
            while child._running and time.monotonic() < limit:
                time.sleep(0.01)
            child.close()

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
