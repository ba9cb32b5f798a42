"""Small questions to a model, outside the conversation."""

from __future__ import annotations

import random
from collections.abc import Callable

from checkrein.base.errors import ModelError
from checkrein.llm.port import Cancel, Model, Request, Search, Searched, SystemBlock, user
from checkrein.runtime.session.budget import Meter
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.session.chooser import Choose
from checkrein.runtime.session.events import Event, Streamed
from checkrein.runtime.tools.port import Found
from checkrein.runtime.turn.request import ask
from checkrein.runtime.turn.retry import RetryPolicy

_ANSWER_TOKENS = 4_000
_SEARCH = "Search the web for: {}\n\nThen say in a few sentences what the results hold. Quote little."


class Asides:
    """Uses the conversation's model unless the caller names another. The conversation pays."""

    def __init__(self, choose: Choose, model: tuple[Model, str], meter: Meter) -> None:
        self._choose = choose
        self._own = model
        self._meter = meter

    @property
    def searches(self) -> bool:
        """Whether the model's service can search the web."""
        return bool(getattr(self._own[0], "searches", False))

    def search(self, query: str, search: Search, cancel: Cancel) -> Found:
        """Let the model's service search the web. Raises ModelError when it can't."""
        found: list[Searched] = []

        def seen(event: Event) -> None:
            if isinstance(event, Streamed) and isinstance(event.event, Searched):
                found.append(event.event)

        text = self._asked(self._own, _SEARCH.format(query), "", cancel, search, seen)
        hits = tuple(hit for one in found for hit in one.hits)
        problem = next((one.error for one in found if one.error), "")
        if problem and not hits:
            raise ModelError(f"The service could not search the web: {problem}.")
        return Found(text, hits, len(found))

    def ask_model(self, prompt: str, model: str | None, cancel: Cancel, system: str = "") -> str:
        """One question, one answer. Raises ModelError when there is no answer."""
        return self._asked(self._own if model is None else self._choose(model), prompt, system, cancel)

    def _asked(
        self,
        model: tuple[Model, str],
        prompt: str,
        system: str,
        cancel: Cancel,
        search: Search | None = None,
        seen: Callable[[Event], object] = ignored,
    ) -> str:
        from checkrein.llm.prices import cost

        chosen, name = model
        blocks = (SystemBlock(system),) if system else ()
        request = Request(
            model=name, system=blocks, messages=(user(prompt),), max_tokens=_ANSWER_TOKENS, search=search
        )
        chance = random.Random(0)  # noqa: S311  spreads retries
        partial = search is not None
        asked = drained(ask(chosen, request, cancel, RetryPolicy(3), partial=partial, chance=chance), seen)
        if asked.reply is None:
            raise asked.error or ModelError("The model gave no answer.")
        reply = asked.reply
        self._meter.add(
            reply.model or name, reply.usage, cost(reply.usage, reply.model or name), asked.seconds
        )
        return reply.text
