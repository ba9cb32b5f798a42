"""The life of a teammate: it works, rests until a message comes, and works again."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Protocol

from checkrein.runtime.agents.last_words import scanned
from checkrein.runtime.agents.work import turns_of
from checkrein.runtime.hooks import payloads_calls
from checkrein.runtime.hooks.limits import stop_block_cap
from checkrein.runtime.session.channel import WAKE
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.session.wakes import Wake

if TYPE_CHECKING:
    from checkrein.runtime.agents.talk import Talk
    from checkrein.runtime.agents.task import AgentTask
    from checkrein.runtime.session.control import Control
    from checkrein.runtime.teams.mate import Mate
    from checkrein.runtime.teams.team import Team


class Keeper(Protocol):
    """Keeps what is known of a teammate. `rests` returns what the lead learns of its last words."""

    def rests(self, task: AgentTask, team: Team, mate: Mate, text: str) -> Wake: ...
    def rises(self, task: AgentTask) -> None: ...


class TeamLife:
    def __init__(self, team: Team, mate: Mate, task: AgentTask, keeper: Keeper) -> None:
        self._team = team
        self._mate = mate
        self._task = task
        self._keeper = keeper
        self._sent_back = 0
        self._control: Control | None = None

    @property
    def resting(self) -> bool:
        ends = self._control is not None and self._control.interrupted
        return self._mate.resting and not ends

    def turns(self, session: Talk, prompt: str | Wake) -> Iterator[Event]:
        """All its turns. Its rest is a part of its life: the end of this is its end."""
        self._control = session.control
        following: str | Wake | None = prompt
        while following is not None:
            for event in turns_of(self._task, session, following):
                if event.agent_id in (None, self._task.id):
                    self._mate.hear(event)
                yield event
            if session.result is None or session.result.is_error:
                return
            following = yield from self._rest(session)

    def end(self) -> str:
        """It has ended; what the lead must know of it."""
        self._mate.rise()
        free, unread = self._team.leave(self._mate), self._mate.unread()
        parts = (
            f"Tasks that are free again: {scanned(', '.join(free))}." if free else "",
            f"It did not read the last {unread} message(s) that it got." if unread else "",
        )
        return "\n".join(part for part in parts if part)

    def _rest(self, session: Talk) -> Generator[Event, None, Wake | None]:
        control, mate = session.control, self._mate
        if mate.leaving or control.interrupted:
            return None
        back = yield from self._sent_back_to_work(session)
        if back is not None:
            return back
        if mate.leaving:
            return None
        assert session.result is not None
        notice = self._keeper.rests(self._task, self._team, mate, session.result.text)
        self._team.tell_lead(mate, notice)
        mate.rest()
        with control.cancel.on_cancel(control.wakes.stir):
            while not (control.interrupted or mate.leaving):
                self._task.heard = time.monotonic()
                yield from session.idle_events()
                wake = mate.next()
                if wake is not None:
                    self._keeper.rises(self._task)
                    return wake
                control.wakes.wait(WAKE)
        return None

    def _sent_back_to_work(self, session: Talk) -> Generator[Event, None, Wake | None]:
        """What a TeammateIdle hook wants it to do, up to a limit in a row."""
        conversation, cap = session.conversation, stop_block_cap(session.conversation.env)
        payload = payloads_calls.teammate_idle(conversation.hooks.common, self._mate.name, self._team.name)
        outcome = yield from conversation.hooks.fire(payload, session.control.cancel)
        yield from (Notice("info", message) for message in outcome.system_messages)
        if not outcome.continue_:
            self._mate.leave()
            return None
        if not outcome.blocked or (cap is not None and self._sent_back >= cap):
            self._sent_back = 0
            return None
        self._sent_back += 1
        text = f"TeammateIdle hook feedback:\n{outcome.reason}"
        return Wake(text=text, source="hook:TeammateIdle", awaited=True)
