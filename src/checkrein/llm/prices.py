"""What a response cost."""

from __future__ import annotations

from checkrein.facts.models import SEARCH_PRICE, ModelFacts, find_model
from checkrein.llm.port import Usage

_MILLION = 1_000_000


def cost(usage: Usage, model: str | ModelFacts) -> float | None:
    """US dollars for one response; None when the tables have no prices for the model."""
    facts = find_model(model) if isinstance(model, str) else model
    if facts is None:
        return None
    prices = facts.prices
    if facts.long_prices is not None and usage.prompt > facts.long_above:
        prices = facts.long_prices
    short_lived = usage.cache_creation - usage.cache_creation_1h
    return (
        usage.input * prices.input
        + usage.output * prices.output
        + usage.cache_read * prices.cache_read
        + short_lived * (prices.cache_write or prices.input)
        + usage.cache_creation_1h * (prices.cache_write_1h or prices.input)
    ) / _MILLION + usage.searches * SEARCH_PRICE
