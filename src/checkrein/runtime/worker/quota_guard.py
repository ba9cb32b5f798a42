"""The quota guard: what the user's workers have spent of late, against limits. A worker that would start over
a limit is refused, and hears how long to wait."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from checkrein.base import clock
from checkrein.base.errors import PolicyError
from checkrein.runtime.worker.worker_log import entries

REACHED = "quota_reached"
_COUNTED = ("input", "output", "cache_creation")


class Quota(Struct, frozen=True, kw_only=True):
    """Limits for the last `window` seconds; None limits nothing."""

    usd: float | None = None
    tokens: int | None = None
    window: float = 18_000.0


class Spent(Struct, frozen=True):
    at: float
    usd: float
    tokens: int


class Standing(Struct, frozen=True):
    """What was spent within the window, and the seconds until a worker may start: 0 is now."""

    usd: float
    tokens: int
    wait: float


def standing(quota: Quota, spent: Iterable[Spent], now: float) -> Standing:
    recent = sorted((one for one in spent if one.at > now - quota.window), key=lambda one: one.at)
    usd, tokens = math.fsum(one.usd for one in recent), sum(one.tokens for one in recent)
    left, wait = list(recent), 0.0
    while left and _over(quota, math.fsum(one.usd for one in left), sum(one.tokens for one in left)):
        wait = left.pop(0).at + quota.window - now
    return Standing(usd, tokens, wait)


def refuse_spent(quota: Quota, env: Mapping[str, str]) -> None:
    found = standing(quota, spendings(entries(env)), clock.now())
    if not found.wait:
        return
    seconds = math.ceil(found.wait)
    error = PolicyError(
        f"The quota guard makes new workers wait {seconds:,} s: the last ones have spent"
        f" {found.tokens:,} tokens and ${found.usd:.2f} within {quota.window:g} s.",
        kind=REACHED,
        hint="quota_guard.max_tokens and quota_guard.max_usd set the limits.",
    )
    error.details["wait_seconds"] = seconds
    raise error


def spendings(log: Iterable[dict[str, Any]]) -> Iterable[Spent]:
    """Of the worker log. A line that is not one of its own is no spending."""
    for entry in log:
        try:
            at = datetime.fromisoformat(entry["at"]).timestamp()
            used = entry["tokens"]
            yield Spent(at, float(used["cost_usd"]), sum(int(used[name]) for name in _COUNTED))
        except (KeyError, TypeError, ValueError):
            continue


def _over(quota: Quota, usd: float, tokens: int) -> bool:
    return (quota.usd is not None and usd >= quota.usd) or (
        quota.tokens is not None and tokens >= quota.tokens
    )
