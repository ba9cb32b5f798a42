"""The loop: ask the model, run its calls, until a terminal transition."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from checkrein.llm.port import Reply
from checkrein.runtime.session.events import TERMINAL, Event, Transition
from checkrein.runtime.turn.request import Asked


class Turn(Protocol):
    """What the loop drives. Each method is one stage that can be replaced.

    `prepare` readies the next pass (compaction, another model, a nudge, a smaller output) for a transition.
    `limit` gives the terminal transition after an interrupt, or when a budget is spent.
    `run_tools` runs the calls of a reply and names what follows; `try_to_stop` lets Stop hooks object.
    """

    def limit(self) -> Transition | None: ...
    def prepare(self, step: Transition) -> Generator[Event, None, Transition | None]: ...
    def ask(self) -> Generator[Event, None, Asked]: ...
    def judge(self, asked: Asked) -> Transition: ...
    def run_tools(self, reply: Reply) -> Generator[Event, None, Transition]: ...
    def try_to_stop(self, step: Transition) -> Generator[Event, None, Transition]: ...


def loop(turn: Turn, step: Transition | None = None) -> Generator[Event, None, Transition]:
    """Run one prompt to its end. Yields every event in the order that `events` promises and returns the
    terminal transition; the caller turns it into the one Result. `step` is the first transition."""
    step = step or Transition("start")
    while step.name not in TERMINAL:
        yield step
        step = (yield from turn.prepare(step)) or turn.limit() or step
        if step.name in TERMINAL:
            break
        asked = yield from turn.ask()
        step = turn.judge(asked)
        if step.name == "tool_use" and asked.reply is not None:
            step = yield from turn.run_tools(asked.reply)
        if step.name == "done":
            step = yield from turn.try_to_stop(step)
    yield step
    return step
