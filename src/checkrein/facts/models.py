"""Models: context window, longest output, prices, short names. The data is from the date in `CHECKED`.

Prices are US dollars per million tokens, at the standard tier of the vendor's own API. A model that is not
listed has no price, and its cost is unknown, never zero.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

CHECKED = "2026-11-15"
SEARCH_PRICE = 0.01
"""US dollars for one search of the web by the service; both vendors that have it take the same."""
DEFAULT_EFFORT = "high"
"""The level of a request that names none."""

ThinkingMode = Literal["always", "adaptive", "budget", "effort", "none"]
"""always: can't be turned off; adaptive: the model decides; budget: a number of tokens; effort: a level."""


class Prices(Struct, frozen=True):
    """`cache_write_1h` is for entries that stay for an hour. 0 where the vendor charges nothing extra."""

    input: float
    output: float
    cache_read: float
    cache_write: float = 0.0
    cache_write_1h: float = 0.0


class ModelFacts(Struct, frozen=True):
    """`long_prices` apply to a whole request whose prompt is longer than `long_above` tokens."""

    name: str
    window: int
    max_output: int
    prices: Prices
    thinking: ThinkingMode = "none"
    long_above: int = 0
    long_prices: Prices | None = None


def _claude(
    name: str,
    window: int,
    output: int,
    thinking: ThinkingMode,
    price: float,
    ratio: float = 0.1,
    *,
    long: float = 0.0,
) -> ModelFacts:
    """The vendor's rules: output is 5 times input, a cache write 1.25 times (an hour: 2), a read `ratio`."""
    over = _claude_prices(price * 5, ratio) if long else None
    return ModelFacts(name, window, output, _claude_prices(price, ratio), thinking, int(long), over)


def _claude_prices(price: float, ratio: float) -> Prices:
    return Prices(price, price * 5, round(price * ratio, 6), price * 1.25, price * 2)


def _gpt(
    name: str,
    window: int,
    output: int,
    price: tuple[float, float, float],
    thinking: ThinkingMode = "effort",
    *,
    write: float = 0.0,
    long: bool = False,
) -> ModelFacts:
    """`price`: input, output, cached input. `long`: over 272,000 tokens input is double, output half more."""
    prices = Prices(*price, write, write)
    double = Prices(price[0] * 2, price[1] * 1.5, price[2] * 2, write * 2, write * 2)
    return ModelFacts(
        name, window, output, prices, thinking, 272_000 if long else 0, double if long else None
    )


_M = 1_000_000
_ROWS: tuple[ModelFacts, ...] = (
    _claude("claude-fable-5-1", _M, 128_000, "always", 10, 0.025),
    _claude("claude-fable-5", _M, 128_000, "always", 10),
    _claude("claude-opus-5-5", _M, 128_000, "always", 4, 0.05),
    _claude("claude-opus-5", _M, 128_000, "adaptive", 5),
    _claude("claude-opus-4-8", _M, 128_000, "adaptive", 5),
    _claude("claude-opus-4-7", _M, 128_000, "adaptive", 5),
    _claude("claude-opus-4-6", _M, 128_000, "adaptive", 5),
    _claude("claude-opus-4-5", 200_000, 64_000, "budget", 5),
    _claude("claude-opus-4-1", 200_000, 32_000, "budget", 15),
    _claude("claude-opus-4-0", 200_000, 32_000, "budget", 15),
    _claude("claude-sonnet-5-5", _M, 128_000, "adaptive", 2, 0.05),
    _claude("claude-sonnet-5", _M, 128_000, "adaptive", 2),
    _claude("claude-sonnet-4-6", _M, 64_000, "adaptive", 3),
    _claude("claude-sonnet-4-5", 200_000, 64_000, "budget", 3),
    _claude("claude-sonnet-4-0", 200_000, 64_000, "budget", 3),
    _claude("claude-haiku-5-5", _M, 128_000, "adaptive", 0.1, long=100_000),
    _claude("claude-haiku-4-5", 200_000, 64_000, "budget", 1),
    _gpt("gpt-6.1-sol", 1_050_000, 128_000, (2, 10, 0.1), write=2.5, long=True),
    _gpt("gpt-6.1-terra", 1_050_000, 128_000, (1, 5, 0.05), write=1.25, long=True),
    _gpt("gpt-6-astra", 1_050_000, 128_000, (10, 50, 1), write=12.5, long=True),
    _gpt("gpt-6-sol", 1_050_000, 128_000, (2, 10, 0.2), write=2.5, long=True),
    _gpt("gpt-6-luna", 1_050_000, 128_000, (0.1, 0.5, 0.01), write=0.125, long=True),
    _gpt("gpt-5.6-sol", 1_050_000, 128_000, (4, 20, 0.4), write=5, long=True),
    _gpt("gpt-5.6-terra", 1_050_000, 128_000, (2, 12, 0.2), write=2.5, long=True),
    _gpt("gpt-5.6-luna", 1_050_000, 128_000, (0.2, 1.2, 0.02), write=0.25, long=True),
    _gpt("gpt-5.5", _M, 128_000, (5, 30, 0.5), long=True),
    _gpt("gpt-5.4", 1_050_000, 128_000, (2.5, 15, 0.25), long=True),
    _gpt("gpt-5.4-mini", 400_000, 128_000, (0.75, 4.5, 0.075)),
    _gpt("gpt-5.4-nano", 400_000, 128_000, (0.2, 1.25, 0.02)),
    _gpt("gpt-5.3-codex", 400_000, 128_000, (1.75, 14, 0.175)),
    _gpt("gpt-5.2", 400_000, 128_000, (1.75, 14, 0.175)),
    _gpt("gpt-5.1", 400_000, 128_000, (1.25, 10, 0.125)),
    _gpt("gpt-5", 400_000, 128_000, (1.25, 10, 0.125)),
    _gpt("gpt-5-mini", 400_000, 128_000, (0.25, 2, 0.025)),
    _gpt("gpt-5-nano", 400_000, 128_000, (0.05, 0.4, 0.005)),
    _gpt("gpt-4.1", 1_047_576, 32_768, (2, 8, 0.5), "none"),
    _gpt("gpt-4.1-mini", 1_047_576, 32_768, (0.4, 1.6, 0.1), "none"),
    _gpt("gpt-4o", 128_000, 16_384, (2.5, 10, 1.25), "none"),
    _gpt("gpt-4o-mini", 128_000, 16_384, (0.15, 0.6, 0.075), "none"),
    _gpt("o4-mini", 200_000, 100_000, (1.1, 4.4, 0.275)),
    _gpt("o3", 200_000, 100_000, (2, 8, 0.5)),
)  # fmt: skip
MODELS: dict[str, ModelFacts] = {row.name: row for row in _ROWS}

ALIASES: dict[str, str] = {
    "default": "claude-sonnet-5-5",
    "sonnet": "claude-sonnet-5-5",
    "opus": "claude-opus-5-5",
    "haiku": "claude-haiku-5-5",
    "opusplan": "claude-sonnet-5-5",
    "fable": "claude-fable-5-1",
    "best": "claude-fable-5-1",
}
ALIAS_VARIABLES: dict[str, str] = {
    "sonnet": "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "opus": "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "haiku": "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "fable": "ANTHROPIC_DEFAULT_FABLE_MODEL",
}
"""Environment variables that define an alias."""

_DECORATION = re.compile(
    r"^(?:[a-z]+\.)?(?:anthropic|openai)[./]|\[1m\]$|-latest$|[-@]20\d\d-?\d\d-?\d\d(?:-v\d.*)?$"
)


@lru_cache
def find_model(name: str) -> ModelFacts | None:
    """The facts about a model. Ignores dates, vendor prefixes and `[1m]` in its name."""
    name = ALIASES.get(name, name)
    while name not in MODELS:
        plain = _DECORATION.sub("", name)
        plain = re.sub(r"^(claude-(?:opus|sonnet)-4)$", r"\1-0", plain)
        plain = re.sub(r"^(claude-[a-z]+-\d)\.(\d)$", r"\1-\2", plain)
        if plain == name:
            return None
        name = plain
    return MODELS[name]
