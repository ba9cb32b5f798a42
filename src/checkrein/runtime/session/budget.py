"""What a session may spend and what it has spent, over the whole tree of conversations below it.

A Meter of a child adds to its parent's, so that the parent's totals equal the sum of its parts (contract 9)
and one limit binds all of them.
"""

from __future__ import annotations

import threading
import time
from typing import Literal

from msgspec import Struct

from checkrein.llm.port import Usage
from checkrein.runtime.session.events import ModelUsage

Limit = Literal["requests", "tokens", "usd", "seconds"]


class Budget(Struct, frozen=True, kw_only=True):
    """None means no limit. `requests` counts the conversation's own requests that lead to another (calls,
    repairs of the output, pauses); the rest counts the whole tree."""

    requests: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


MAIN = "main"


class Meter:
    def __init__(self, budget: Budget, parent: Meter | None = None, owner: str = MAIN) -> None:
        """`owner` is the agent that spends."""
        self.budget = budget
        self.parent = parent
        self.requests = 0
        self.model_seconds = 0.0
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._owner = owner
        self._by_model: dict[str, ModelUsage] = {}
        self._by_agent: dict[str, ModelUsage] = {}

    def restart(self) -> None:
        """Count time and requests from here. Usage so far stays."""
        self.requests = 0
        self._started = time.monotonic()

    def add(self, model: str, usage: Usage, cost: float | None, seconds: float = 0.0) -> None:
        self._add(model, usage, cost, seconds, self._owner)

    def _add(self, model: str, usage: Usage, cost: float | None, seconds: float, owner: str) -> None:
        with self._lock:
            for parts, key in ((self._by_model, model), (self._by_agent, owner)):
                parts[key] = _more(parts.get(key), usage, cost)
            self.model_seconds += seconds
        if self.parent is not None:
            self.parent._add(model, usage, cost, seconds, owner)

    @property
    def by_model(self) -> dict[str, ModelUsage]:
        with self._lock:
            return dict(self._by_model)

    @property
    def by_agent(self) -> dict[str, ModelUsage]:
        """What each agent of the tree spent by itself; `main` is the conversation at its root."""
        with self._lock:
            return dict(self._by_agent)

    @property
    def usage(self) -> Usage:
        total = Usage()
        for part in self.by_model.values():
            total = total + part.usage
        return total

    @property
    def cost(self) -> float:
        return sum(part.cost_usd or 0.0 for part in self.by_model.values())

    @property
    def deadline(self) -> float | None:
        """When the time of this meter, or of one above it, is over (monotonic seconds)."""
        own = None if self.budget.seconds is None else self._started + self.budget.seconds
        above = self.parent.deadline if self.parent is not None else None
        return min((at for at in (own, above) if at is not None), default=None)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def spent(self) -> Limit | None:
        """The first limit reached, of this meter or of one above it. The requests of those above do not
        count."""
        if self.budget.requests is not None and self.requests >= self.budget.requests:
            return "requests"
        return self._shared()

    def _shared(self) -> Limit | None:
        budget = self.budget
        if budget.tokens is not None and self.usage.total >= budget.tokens:
            return "tokens"
        if budget.usd is not None and self.cost >= budget.usd:
            return "usd"
        if budget.seconds is not None and self.elapsed >= budget.seconds:
            return "seconds"
        return self.parent._shared() if self.parent is not None else None


def _more(old: ModelUsage | None, usage: Usage, cost: float | None) -> ModelUsage:
    if old is None:
        return ModelUsage(usage, cost)
    total = None if cost is None and old.cost_usd is None else (old.cost_usd or 0.0) + (cost or 0.0)
    return ModelUsage(old.usage + usage, total, old.requests + 1)
