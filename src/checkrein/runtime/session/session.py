"""A session: a project, a model, and the conversation between them.

`run(prompt)` gives the events of one prompt; iterate them plainly or with `async for`. Leaving the iterator
early interrupts the turn and ends its children. `close` (or `with`) ends the session.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cached_property, partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from checkrein.base.errors import SessionError, UsageError
from checkrein.base.ids import new_uuid
from checkrein.facts.subagents import AGENT_TOOL
from checkrein.llm.port import Cancel, Model, ToolUse
from checkrein.runtime.call.host import Done
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.session.control import Answerer, Asker, Control, Typed
from checkrein.runtime.session.control import Prompt as Prompt
from checkrein.runtime.session.events import (
    Event,
    Finished,
    HookFinished,
    Result,
    Transition,
)
from checkrein.runtime.session.graces import (
    CHILDREN_UNTIL,
    SESSION_END_UNTIL,
    TOOLS_UNTIL,
    processes_grace,
)
from checkrein.runtime.session.left_open import delegate_of, end_left_open
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.rewind import rewind, rewind_if_asked
from checkrein.runtime.session.start import await_servers, start, started
from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.tools.port import Aside
from checkrein.runtime.turn.display import as_shown, masked
from checkrein.runtime.turn.news import notice
from checkrein.runtime.turn.prompted import prompted
from checkrein.runtime.turn.result import make_result, refused_result, unrecorded
from checkrein.runtime.turn.transitions import stopped
from checkrein.runtime.turn.turn import SessionTurn

if TYPE_CHECKING:
    from os import PathLike

    from checkrein.model.project import Project
    from checkrein.model.view import View
    from checkrein.runtime.agents.children import Children
    from checkrein.runtime.session.conversation import Child, Conversation
    from checkrein.runtime.session.reload import Watch
    from checkrein.runtime.session.server_control import ServerControl
    from checkrein.runtime.session.stream import Stream
    from checkrein.runtime.store.checkpoints import Restored
    from checkrein.runtime.store.mirror import Take
    from checkrein.runtime.tools.delegate import Delegate
    from checkrein.runtime.tools.port import AnyTool


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
        self.watch: Watch | None = None
        self._children: list[Session] = []
        self._counting = threading.Lock()
        self._agents: Children | None = None
        self.streaming: Stream | None = None
        if conversation.host.tools.get(AGENT_TOOL) is not None:
            conversation.desk.make_delegate = partial(delegate_of, weakref.ref(self))
            if conversation.record.opened.tasks:
                self.delegate()
        if conversation.link is None:
            self._left_open = weakref.finalize(
                self, end_left_open, conversation.services, conversation.recorder.writer
            )

    def delegate(self) -> Delegate:
        from checkrein.runtime.agents.children import Children
        from checkrein.runtime.agents.tool_side import ToolSide

        if self._agents is None:
            self._agents = Children(self)
            self.control.wakes.join(self._agents)
            self._agents.restore(self.conversation.record.opened.tasks)
        return ToolSide(self._agents)

    def child(self, asked: Child) -> Session:
        """Make another conversation below this one; there is no other way. What binds this one binds the
        child: rules, tools, mode, trust, environment, hooks, budget. Close it when its work is done. It ends
        with this session at the latest, which closes what they share."""
        from checkrein.runtime.session.assembly import open_child

        if self._closed:
            raise UsageError("The session is closed.", kind="session_busy")
        session = Session.__new__(Session)
        session._sit_down(open_child(self.conversation, asked, session._help))
        with self._counting:
            if not self._closed:
                self._children = [*(one for one in self._children if not one._closed), session]
                return session
        session.close()
        raise UsageError("The session is closed.", kind="session_busy")

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

    @cached_property
    def servers(self) -> ServerControl:
        """The MCP servers, for the program that runs the session."""
        from checkrein.runtime.session.server_control import ServerControl

        return ServerControl(self.conversation)

    def run(self, prompt: Prompt | Typed | Wake) -> Stream:
        """The events of one prompt, or of what starts a turn by itself. Nothing happens before the caller
        takes the first event."""
        from checkrein.runtime.session.stream import Stream

        return Stream(self, prompt)

    def events(self, prompt: Prompt | Typed | Wake) -> Iterator[Event]:
        """Every event of one prompt, `Finished` last on every path. The transcript has each event before the
        caller does."""
        if self._running or self._closed:
            state = "is busy with another prompt" if self._running else "is closed"
            raise UsageError(f"The session {state}.", kind="session_busy")
        self._running = True
        began = time.monotonic()
        self.conversation.state.begin_turn()
        if not isinstance(prompt, Wake) or not prompt.awaited:
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
            self._running = False
            raise
        finally:
            self.conversation.gate.end_turn()
        finished = self._conclude(step, turn, began)
        self._running = False  # who waits for the end may close the transcript now
        yield finished

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
        except (OSError, SessionError) as error:
            self.result = unrecorded(self.result, f"The session can't be recorded: {error}")
            finished = Finished(self.result, uuid)
            self._tell(finished)
            return finished

    def _kept(self, event: Event) -> Event:
        """Record an event and return it as shown. The events of a child are in the child's own transcript."""
        if isinstance(event, HookFinished):
            event = masked(event, self.conversation.services.kept.vault)
        if event.agent_id is None:
            self.conversation.recorder.take(event)
            event = self._placed(as_shown(self.conversation, event))
        self._tell(event)
        return event

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
        await_servers(conversation, first=not self._opened)
        yield started(conversation)
        if self._opened:
            return
        self._opened = True
        if conversation.link is None:
            yield from start(conversation)
        elif conversation.own_servers is not None:
            yield from conversation.look_at_tools()

    def idle_events(self) -> list[Event]:
        """What happened in the background since the last turn or the last call, and what `control` changes.
        Between prompts only."""
        changes = self.conversation.take_changes()
        return [self._kept(event) for event in (*self.control.wakes.heard(), *changes)]

    def _turn(
        self, prompt: Prompt | Typed | Wake, turn: SessionTurn, cancel: Cancel
    ) -> Generator[Event, None, Transition]:
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
        self, prompt: Prompt | Typed | Wake, turn: SessionTurn, cancel: Cancel
    ) -> Generator[Event, None, Transition]:
        given = prompt.uuid if isinstance(prompt, Typed) else None
        self.conversation.begin_prompt(uuid := given or new_uuid())
        yield from rewind_if_asked(self.conversation)
        yield from notice(self.conversation, cancel)
        yield from self._refresh(cancel)
        return (yield from prompted(turn, prompt, uuid))

    def rewind(
        self, uuid: str, *, files: bool = True, conversation: bool = False, dry_run: bool = False
    ) -> Restored:
        """Go back to before the prompt `uuid`: its files, the conversation, or both. Between prompts only. A
        dry run changes nothing."""
        if self._running or self._closed:
            raise UsageError("You can rewind a session only between prompts.", kind="session_busy")
        return rewind(self.conversation, uuid, files=files, messages=conversation, dry_run=dry_run)

    def mirror(self, take: Take) -> None:
        """Give everything that this session and its children write into transcripts to `take` as well, from
        their beginning on. Needs `Options.mirror`."""
        mirror = self.conversation.recorder.writer.mirror
        if mirror is not None:
            mirror.attach(take)

    def _refresh(self, cancel: Cancel) -> Iterator[Event]:
        """Between prompts, check the project's files again."""
        from checkrein.runtime.session.reload import Watch, refresh

        if self.watch is None:
            self.watch = Watch(self.conversation.view.project.place)
        elif not self.options.bare:
            yield from refresh(self.conversation, self.watch, cancel)

    def close(self) -> None:
        """Release the transcript. At the root of a tree, first run the SessionEnd hooks and end what the
        session started. Safe to call twice."""
        with self._counting:
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
                conversation.close(processes_grace(self.control.cancel))
            finally:
                if conversation.link is None:
                    conversation.services.close(processes_grace(self.control.cancel))

    def _end_children(self) -> None:
        """Nothing below outlives this conversation. A turn that still runs in another thread gets a moment to
        end."""
        for child in self._children:
            child.control.stop()
        hurry = self.control.interrupted
        if self._agents is not None:
            self._agents.join(TOOLS_UNTIL if hurry else CHILDREN_UNTIL)
        limit = time.monotonic() + TOOLS_UNTIL
        for child in self._children:
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
