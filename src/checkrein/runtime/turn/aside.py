"""Small questions beside the conversation: to a model alone, or to a helper that may only read."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import TYPE_CHECKING

from checkrein.base.errors import ModelError
from checkrein.llm.port import Cancel, Model, Request, SystemBlock, user
from checkrein.runtime.session.budget import Budget, Meter
from checkrein.runtime.turn.request import Asked, ask
from checkrein.runtime.turn.retry import RetryPolicy

if TYPE_CHECKING:
    from checkrein.model.view import View
    from checkrein.runtime.session.engine import Choose
    from checkrein.runtime.session.events import Event

ANSWER_TOKENS = 4_000
HELPER_TURNS = 50
READING_TOOLS = ("Read", "Glob", "Grep")


class Asides:
    """Answers on the session's model unless another is named; what it costs counts for the session."""

    def __init__(self, choose: Choose, model: tuple[Model, str], meter: Meter) -> None:
        self._choose = choose
        self._own = model
        self._meter = meter

    def ask_model(self, prompt: str, model: str | None, cancel: Cancel, system: str = "") -> str:
        """One question, one answer. Raises ModelError when none came."""
        from checkrein.llm.prices import cost

        chosen, name = self._own if model is None else self._choose(model)
        blocks = (SystemBlock(system),) if system else ()
        request = Request(model=name, system=blocks, messages=(user(prompt),), max_tokens=ANSWER_TOKENS)
        chance = random.Random(0)  # noqa: S311  spreads retries
        asked = _drained(ask(chosen, request, cancel, RetryPolicy(3), partial=False, chance=chance))
        if asked.reply is None:
            raise asked.error or ModelError("The model gave no answer.")
        reply = asked.reply
        self._meter.add(
            reply.model or name, reply.usage, cost(reply.usage, reply.model or name), asked.seconds
        )
        return reply.text

    def run_agent(self, view: View, prompt: str, model: str | None, cancel: Cancel) -> str:
        """The last message of a helper with reading tools, in a session that is not kept."""
        from checkrein.runtime.session.options import Options
        from checkrein.runtime.session.session import Session

        chosen = self._own[0] if model is None else model
        options = Options(
            tools=READING_TOOLS,
            mode="dontAsk",
            persist=False,
            bare=True,
            hooks=False,
            budget=Budget(turns=HELPER_TURNS),
        )
        narrowed = view.narrow(skills=(), commands=(), agents=(), servers=(), tools=READING_TOOLS)
        with Session(narrowed, model=chosen, options=options) as session:
            with cancel.on_cancel(session.control.interrupt):
                stream = session.run(prompt)
                for _ in stream:
                    pass
            result = stream.result
        if result is None or result.is_error:
            raise ModelError(result.text if result else "The helper gave no answer.")
        for name, used in result.by_model.items():
            self._meter.add(name, used.usage, used.cost_usd)
        return result.text


def _drained(stream: Generator[Event, None, Asked]) -> Asked:
    while True:
        try:
            next(stream)
        except StopIteration as end:
            asked: Asked = end.value
            return asked
