"""The team of a conversation: which calls of Agent make a teammate, and what it is made of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.errors import SessionError
from checkrein.facts import subagents
from checkrein.facts.tools import DEFAULT_AGENT
from checkrein.runtime.agents.doubts import doubts
from checkrein.runtime.agents.last_words import carried, scanned
from checkrein.runtime.session.events import Notice
from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.teams.mail import as_read, checked
from checkrein.runtime.teams.mate import LEAD, MESSAGE, checked_team
from checkrein.runtime.teams.team import Team
from checkrein.runtime.teams.team_life import TeamLife
from checkrein.runtime.teams.team_side import TeamSide
from checkrein.runtime.tools.port import ToolFailure

if TYPE_CHECKING:
    from checkrein.passes.agents import AgentType
    from checkrein.runtime.agents.talk import Talk
    from checkrein.runtime.agents.task import AgentTask, Order
    from checkrein.runtime.session.conversation import Child
    from checkrein.runtime.store.kept_task import KeptTask
    from checkrein.runtime.teams.mate import Mate

_WITHOUT = ("CronCreate", "CronDelete", "CronList")
"""Timed work belongs to the main conversation."""
_TOOLS = ("SendMessage", *(name for name in subagents.OF_TEAMMATES if name not in _WITHOUT))


class Formation:
    """`lead` is the conversation that starts teammates, `keep` puts what is known of one into its transcript,
    `changes` says what one changed in its worktree."""

    def __init__(
        self,
        lead: Callable[[], Talk],
        keep: Callable[[KeptTask], None],
        changes: Callable[[AgentTask], str],
    ) -> None:
        self._lead = lead
        self._keep = keep
        self._changes = changes
        self.team: Team | None = None
        self._founding = threading.Lock()

    def team_of(self, order: Order) -> str | None:
        """The team that an agent joins; None for one that reports and ends. Only the main conversation has
        teammates. Raises ToolFailure where nobody can join like this."""
        conversation = self._lead().conversation
        env = conversation.env
        wanted = order.team is not None or (
            order.name is not None and subagents.is_on(env, subagents.ENV_TEAMS)
        )
        if not wanted or conversation.link is not None or subagents.is_on(env, subagents.ENV_NO_BACKGROUND):
            return None
        if order.name is None:
            raise ToolFailure("A teammate needs a `name`.")
        name = checked_team(order.team or f"session-{conversation.session_id[:8]}")
        team = self._founded(name)
        team.expect(order.name)
        return team.name

    def give_up(self, name: str | None, team: str | None) -> None:
        """Who was expected in a team can't start."""
        if self.team is not None and team is not None and name is not None:
            self.team.give_up(name)

    def again(self, kept: KeptTask, message: str) -> Wake:
        """One that has ended goes on with a message of the lead. Raises ToolFailure where it can't."""
        assert kept.name is not None
        assert kept.team is not None
        text = as_read(checked(message), LEAD, leads=True)
        self._founded(kept.team).expect(kept.name)
        return Wake(text=text, source=MESSAGE, awaited=True)

    def _founded(self, name: str) -> Team:
        with self._founding:
            self.team = self.team or Team(name, self._lead())
            return self.team

    def kind(self, kind: AgentType) -> AgentType:
        """A teammate of a type has its tools and its model, and what a team needs; no skills and servers."""
        tools = kind.tools if kind.tools is None else (*kind.tools, *_TOOLS)
        body = "" if kind.name == DEFAULT_AGENT and kind.item is None else kind.body
        without = (*kind.disallowed, *_WITHOUT)
        return replace(
            kind, tools=tools, disallowed=without, body=body, skills=(), servers=(), server_names=()
        )

    def child(self, child: Child, kind: AgentType) -> Child:
        """It has the usual system prompt; the text of its type follows."""
        options = replace(child.options, system_prompt=None, append_system_prompt=kind.body or None)
        return replace(child, options=options)

    def join(self, task: AgentTask, session: Talk) -> None:
        """From here on, it is a member."""
        name = task.kept.name
        assert name is not None
        assert task.kept.team is not None
        team = self._founded(task.kept.team)
        mate = team.join(name, session)
        side = TeamSide(team, mate)
        session.conversation.desk.make_delegate = lambda: side
        task.life = TeamLife(team, mate, task, self)

    def rises(self, task: AgentTask) -> None:
        """It works again: what it said last is no longer all."""
        with suppress(OSError, SessionError):
            self._keep(task.change(delivered=False))

    def rests(self, task: AgentTask, team: Team, mate: Mate, text: str) -> Wake:
        """What the lead learns. Its transcript has it first."""
        conversation = self._lead().conversation
        words = carried(conversation.services.kept.vault.masked(text), conversation.env, task.path)
        with suppress(OSError, SessionError):
            self._keep(task.change(report=words, delivered=False))
        open_tasks = team.works_on(mate)
        parts = (
            f"The teammate {mate.name} ({task.words}) is idle: it waits for messages.",
            doubts(conversation, task.kept.description, words, self._lead().control.cancel),
            f"Its last words:\n\n{words}\n" if words else "It said nothing.",
            f"It still has these tasks in progress: {scanned(', '.join(open_tasks))}." if open_tasks else "",
            self._changes(task),
        )
        return Wake(
            text="\n".join(part for part in parts if part),
            source="task",
            event=Notice("info", f"The teammate {mate.name} is idle."),
            awaited=True,
            taken=lambda: self._delivered(task, words),
        )

    def _delivered(self, task: AgentTask, words: str) -> None:
        if task.kept.report == words and not task.kept.delivered:
            self._keep(task.change(delivered=True))
