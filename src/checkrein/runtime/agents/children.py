"""The subagents of one conversation: starting them, hearing of their ends, speaking to them again.

A child is a conversation below its parent (`Session.child`): what binds the parent binds it. This module only
chooses what the child is made of, and carries its report home. The parent's transcript has a report before
anybody acts on it.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from checkrein.base.errors import CheckreinError, SessionError
from checkrein.facts import subagents
from checkrein.llm.port import Cancel
from checkrein.passes.agents import AgentType
from checkrein.runtime.agents.agent_threads import AgentThreads
from checkrein.runtime.agents.blueprint import Blueprints
from checkrein.runtime.agents.delivery import began, ended, notification
from checkrein.runtime.agents.doubts import doubts
from checkrein.runtime.agents.last_words import carried
from checkrein.runtime.agents.own_worktree import OwnWorktrees
from checkrein.runtime.agents.task import AgentTask, Order, Report
from checkrein.runtime.agents.work import Work
from checkrein.runtime.session.conversation import Child
from checkrein.runtime.session.events import Event
from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.store.kept_task import STATE_KEY, KeptTask
from checkrein.runtime.teams.formation import Formation
from checkrein.runtime.tools.port import Aside, ToolFailure

if TYPE_CHECKING:
    from checkrein.llm.port import Message
    from checkrein.runtime.agents.talk import Talk
    from checkrein.runtime.session.conversation import Conversation


_LAST_STEPS = 2.0
"""Seconds that the end of a task takes at most, after its last turn."""


class Children:
    """A source of wakes for its conversation. Safe to use from several threads."""

    def __init__(self, session: Talk) -> None:
        self._of = weakref.ref(session)
        self._threads = AgentThreads()
        self._own: dict[str, AgentTask] = {}
        self._work = Work(self._conversation.env)
        self._trees = OwnWorktrees(self._conversation)
        self._blueprints = Blueprints(self._conversation)
        self.formation = Formation(lambda: self._session, self._keep, self._changes)

    @property
    def _session(self) -> Talk:
        session = self._of()
        assert session is not None  # it ends its children before it goes
        return session

    @property
    def _conversation(self) -> Conversation:
        return self._session.conversation

    @property
    def types(self) -> dict[str, AgentType]:
        return self._conversation.offer.agents

    # A source of wakes.

    @property
    def awaited(self) -> bool:
        """A task has its thread until its report is among the wakes. A teammate that rests is not awaited."""
        return self._threads.busy

    def due(self) -> Sequence[Wake]:
        """Ends a task that gives no sign of life. Its report, as far as it came, is a wake like any other."""
        if not self._own:
            return ()
        longest = subagents.limit(self._conversation.env, subagents.ENV_STALL_MS, subagents.STALL_MS) / 1000
        for task in tuple(self._own.values()):
            if task.state == "running" and task.kept.background and time.monotonic() - task.heard > longest:
                task.stalled = True
                if task.session is not None:
                    task.session.control.stop()
        return ()

    # Starting.

    def start(self, order: Order, aside: Aside) -> AgentTask:
        """Start a subagent. One in the foreground has ended when this returns."""
        kind = self._blueprints.startable(order.type)
        order = replace(order, team=self.formation.team_of(order))
        if order.team is not None:
            kind, order = self.formation.kind(kind), replace(order, background=True)
        background = self._blueprints.in_background(order, kind)
        try:
            child = self._blueprints.child(order, kind, aside.call_id or "", background=background)
            child = child if order.team is None else self.formation.child(child, kind)
            task = self._admitted(order, kind, child)
            session = self._opened(task, child, aside, replace(task.kept, state="failed"))
        except BaseException:
            self.formation.give_up(order.name, order.team)
            raise
        if not background and not self._left(task, session, order, aside):
            return task
        aside.emit(began(task, order.prompt, self._blueprints.depth))
        if background:
            self._send_off(task, session, order.prompt)
        return task

    def _left(self, task: AgentTask, session: Talk, order: Order, aside: Aside) -> bool:
        """Run it in the foreground. True when a person sent it to the background meanwhile."""
        run = partial(self._run, task, session, order.prompt)
        if order.wait or self._conversation.options.kind != "interactive":
            run(aside.cancel, aside.emit)
            return False
        return self._threads.attend(task, run, aside, self._session.control.wakes.tell)

    def carry_out(self, order: Order, aside: Aside) -> AgentTask:
        """Start one that no call of Agent asks for, and wait for its end."""
        return self.start(replace(order, prompt=self._blueprints.approved(order, aside), wait=True), aside)

    @property
    def _id(self) -> str | None:
        link = self._conversation.link
        return link.agent_id if link is not None else None

    def _path(self, task: str) -> str:
        return f"{self._conversation.services.results}/{task}.output"

    def _admitted(self, order: Order, kind: AgentType, child: Child) -> AgentTask:
        crew = self._conversation.services.crew
        kept = KeptTask(
            id=child.agent_id or "",
            type=kind.name,
            call=child.call,
            description=order.description,
            name=order.name,
            model=order.model,
            background=self._blueprints.in_background(order, kind),
            team=order.team,
        )
        task = AgentTask(kept, self._path(kept.id), above=self._id)
        task.isolated = "worktree" in (order.isolation, kind.isolation)
        if not crew.admit(task):
            raise ToolFailure(
                f"{crew.most} agents run already, and that is the limit. Don't try again: go on with other "
                "work until one of them has ended."
            )
        return task

    def _opened(self, task: AgentTask, child: Child, aside: Aside, otherwise: KeptTask) -> Talk:
        try:
            if task.isolated:
                child, task.kept = self._trees.placed(task.kept, child, aside)
            task.session = session = self._session.child(child)
            self._own[task.id] = task
            if task.kept.team is not None:
                self.formation.join(task, session)
            self._keep(task.kept)
        except BaseException as error:
            if task.session is not None:
                with suppress(OSError, SessionError):
                    task.session.close()
            task.end(otherwise)
            with suppress(CheckreinError):
                self._trees.end(task.id, Cancel(), aside.emit)
            if isinstance(error, CheckreinError):
                text = f"{error.message} {error.hint or ''}".strip()
                raise ToolFailure(f"The agent {task.kept.type} can't start: {text}") from error
            raise
        return session

    # Working.

    def _send_off(self, task: AgentTask, session: Talk, prompt: str | Wake) -> None:
        tell = self._session.control.wakes.tell
        try:
            self._threads.start(task, partial(self._run, task, session, prompt, Cancel(), tell))
        except RuntimeError as error:  # the system has no more threads
            self._finish(task, Report(state="failed", text="", cut=f"It can't start: {error}."))

    def _run(
        self,
        task: AgentTask,
        session: Talk,
        prompt: str | Wake,
        cancel: Cancel,
        emit: Callable[[Event], object],
    ) -> None:
        report = self._work.done(task, session, self.types.get(task.kept.type), prompt, cancel, emit)
        if task.stalled:
            report = replace(
                report, state="failed", cut="It gave no sign of life for too long and was ended."
            )
        elif task.by_user:
            report = replace(report, state="stopped", cut="It was stopped.")
        self._finish(task, report)

    def _finish(self, task: AgentTask, report: Report) -> None:
        with task.settling:
            self._settle(task, report)

    def _settle(self, task: AgentTask, report: Report) -> None:
        """The transcript first, then everybody else."""
        text = self._carried(report.text, task.path)
        doubt = doubts(self._conversation, task.kept.description, text, self._session.control.cancel)
        report = replace(report, cut=f"{report.cut} {doubt}".strip())
        task.after = task.life.end() if task.life is not None else ""
        known = task.kept.delivered and text == task.kept.report
        kept = replace(
            task.kept,
            state=report.state,
            report=text,
            cut=report.cut,
            on_purpose=task.by_user,
            delivered=known,
        )
        unread = task.session is not None and task.session.control.stopped and not task.by_user
        try:
            self._leave(task, kept)
            kept = self._released(kept)
        finally:
            task.end(kept)
        if not unread:
            task.after = "\n".join(part for part in (task.after, self._changes(task)) if part)
        if kept.background:
            self._session.control.wakes.tell(ended(task))
            self._session.control.wakes.put(self._wake(task))

    def _released(self, kept: KeptTask) -> KeptTask:
        """The task without its worktree, unless there is something in it."""
        now = self._trees.released(kept, self._session.control.wakes.tell)
        if now is not kept:
            with suppress(OSError, SessionError):
                self._keep(now)
        return now

    def _carried(self, text: str, path: str) -> str:
        conversation = self._conversation
        return carried(conversation.services.kept.vault.masked(text), conversation.env, path)

    def _leave(self, task: AgentTask, kept: KeptTask) -> None:
        """What can't be written is told all the same."""
        with suppress(OSError, SessionError):
            self._keep(kept)
        if task.session is not None:
            if not self._conversation.recorder.writer.saved:
                task.messages = tuple(task.session.conversation.state.messages)
            with suppress(OSError, SessionError):
                task.session.close()

    def _changes(self, task: AgentTask) -> str:
        path = task.kept.worktree
        return self._trees.changes(path, Cancel()) if path is not None else ""

    def _wake(self, task: AgentTask) -> Wake:
        kept = task.kept
        return Wake(
            text=notification(task),
            source="task",
            awaited=True,
            taken=lambda: self._delivered(task, kept),
        )

    def _delivered(self, task: AgentTask, kept: KeptTask) -> None:
        """The model has this report. The task may work again by now."""
        if task.kept is kept:
            task.kept = replace(kept, delivered=True)
            self._keep(task.kept)

    def _keep(self, kept: KeptTask) -> None:
        self._conversation.recorder.writer.state(**{f"{STATE_KEY}{kept.id}": msgspec.to_builtins(kept)})

    # Afterwards.

    def find(self, reference: str) -> AgentTask | None:
        """A task by id or name. A conversation knows its own and those below it."""
        crew = self._conversation.services.crew
        task = crew.find(reference)
        return task if task is not None and crew.is_below(task, self._id) else None

    def send(self, reference: str, message: str, aside: Aside) -> AgentTask:
        """Say something to a subagent. One that has ended goes on in the background, with all it knows."""
        task = self.find(reference)
        if task is None:
            known = ", ".join(one.kept.name or one.id for one in self.all()) or "none"
            raise ToolFailure(f"There is no agent {reference!r}. Known agents: {known}.")
        if task.say(message):
            return task
        if not task.wait(_LAST_STEPS, aside.cancel):
            raise ToolFailure(f"{reference} is about to end. Its report will come by itself.")
        if task.id not in self._own:
            raise ToolFailure(
                f"{reference} has ended. Only the conversation that started it can continue it."
            )
        kind = self._blueprints.kind(task.kept.type)
        if kind.one_shot:
            raise ToolFailure(f"An agent of the type {kind.name} answers once. Start a new one.")
        if task.by_user:
            raise ToolFailure(f"{reference} was stopped on purpose. Start a new agent instead.")
        asked = Order(description=task.kept.description, prompt=message, type=task.kept.type)
        message = self._blueprints.approved(asked, aside)
        try:
            self._continue(task, kind, message, aside)
        except BaseException:
            self.formation.give_up(task.kept.name, task.kept.team)
            raise
        return task

    def _continue(self, task: AgentTask, kind: AgentType, message: str, aside: Aside) -> None:
        kept = task.kept
        order = Order(
            description=kept.description,
            prompt=message,
            type=kept.type,
            model=kept.model,
            background=True,
            team=kept.team,
        )
        first: str | Wake = message
        if kept.team is not None:
            kind, first = self.formation.kind(kind), self.formation.again(kept, message)
        background = not subagents.is_on(self._conversation.env, subagents.ENV_NO_BACKGROUND)
        child = self._blueprints.child(order, kind, aside.call_id or "", background=background)
        child = child if kept.team is None else self.formation.child(child, kind)
        child = replace(child, agent_id=task.id, messages=self._messages(task))
        again = replace(
            kept,
            state="running",
            call=aside.call_id or "",
            background=background,
            delivered=False,
            report=kept.report if kept.background and not kept.delivered else "",
            cut="",
        )
        if not self._conversation.services.crew.admit(task, again):
            raise ToolFailure("Too many agents run already. Don't try again until one of them has ended.")
        session = self._opened(task, child, aside, kept)
        aside.emit(began(task, message, self._blueprints.depth))
        if background:
            self._send_off(task, session, first)
        else:
            self._run(task, session, first, aside.cancel, aside.emit)

    def _messages(self, task: AgentTask) -> tuple[Message, ...]:
        """What the subagent said and heard before."""
        from checkrein.runtime.agents.past import past_messages

        found = task.messages or past_messages(self._conversation.recorder.writer, task.id)
        if not found:
            raise ToolFailure(f"This session has no transcript of {task.id}. Start a new agent instead.")
        return found

    def restore(self, kept: Sequence[KeptTask]) -> None:
        """The tasks of a session that is continued. What ended, or could not end, and was not told, is told
        now; nothing runs again by itself."""
        from checkrein.runtime.agents.past import is_told, settled

        for one in kept:
            path = self._path(one.id)
            now = settled(one, self._conversation.recorder.writer, partial(self._carried, path=path))
            task = AgentTask(now, path, above=self._id)
            task.isolated = one.worktree is not None
            self._own[task.id] = task
            self._conversation.services.crew.admit(task)
            told = now.delivered or is_told(now, notification(task), self._conversation.state.messages)
            if not told and one.worktree is not None:
                now = task.kept = self._trees.recovered(now, self._session.control.wakes.tell)
            if now != one:
                self._keep(now)
            if not told:
                task.after = self._changes(task)
                self._session.control.wakes.put(replace(self._wake(task), awaited=False))

    def all(self) -> tuple[AgentTask, ...]:
        return self._conversation.services.crew.all(self._id)

    def kind_of(self, task: AgentTask) -> AgentType:
        return self._blueprints.kind(task.kept.type)

    def model_of(self, task: AgentTask) -> str:
        session = task.session
        return session.conversation.state.model if session is not None else self._conversation.state.model

    def join(self, seconds: float) -> None:
        """Wait until what has been cancelled has brought its report home."""
        self._threads.join(seconds)
        self._trees.close()
