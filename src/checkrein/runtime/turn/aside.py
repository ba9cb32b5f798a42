"""Small questions to a model, outside the conversation."""

from __future__ import annotations

import random

from checkrein.base.errors import ModelError
from checkrein.llm.port import Cancel, Model, Request, SystemBlock, user
from checkrein.runtime.session.budget import Meter
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.session.chooser import Choose
from checkrein.runtime.turn.request import ask
from checkrein.runtime.turn.retry import RetryPolicy

_ANSWER_TOKENS = 4_000


class Asides:
    """Uses the conversation's model unless the caller names another. The conversation pays."""

    def __init__(self, choose: Choose, model: tuple[Model, str], meter: Meter) -> None:
        self._choose = choose
        self._own = model
        self._meter = meter

    def ask_model(self, prompt: str, model: str | None, cancel: Cancel, system: str = "") -> str:
        """One question, one answer. Raises ModelError when there is no answer."""
        from checkrein.llm.prices import cost

        chosen, name = self._own if model is None else self._choose(model)
        blocks = (SystemBlock(system),) if system else ()
        request = Request(model=name, system=blocks, messages=(user(prompt),), max_tokens=_ANSWER_TOKENS)
        chance = random.Random(0)  # noqa: S311  spreads retries
        asked = drained(ask(chosen, request, cancel, RetryPolicy(3), partial=False, chance=chance), ignored)
        if asked.reply is None:
            raise asked.error or ModelError("The model gave no answer.")
        reply = asked.reply
        self._meter.add(
            reply.model or name, reply.usage, cost(reply.usage, reply.model or name), asked.seconds
        )
        return reply.text
