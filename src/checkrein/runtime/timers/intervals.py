"""The interval of `/loop`, as people write it, and the cron expression that comes nearest to it."""

from __future__ import annotations

import re
import time

from msgspec import Struct

_LEADING = re.compile(r"(?P<count>[0-9]{1,6})(?P<unit>[smhd])(?:\s+(?P<rest>.*))?", re.DOTALL | re.IGNORECASE)
_TRAILING = re.compile(
    r"(?P<rest>.*\S)\s+every\s+(?P<count>[0-9]{1,6})\s*"
    r"(?P<unit>s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)",
    re.DOTALL | re.IGNORECASE,
)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_MINUTES = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
_HOURS = (1, 2, 3, 4, 6, 8, 12, 24)


class Loop(Struct, frozen=True):
    """What the user wants again and again. `seconds` None: the model chooses the times."""

    prompt: str
    seconds: int | None = None


class Pace(Struct, frozen=True):
    """A cron expression, what it means, and whether that is what the user wrote."""

    cron: str
    words: str
    exact: bool


def read_loop(text: str) -> Loop:
    """`5m check the build`, `check the build every 5 minutes`, or a prompt alone."""
    text = text.strip()
    match = _LEADING.fullmatch(text) or _TRAILING.fullmatch(text)
    if match is None:
        return Loop(text)
    seconds = int(match["count"]) * _SECONDS[match["unit"][0].lower()]
    return Loop((match["rest"] or "").strip(), seconds)


def pace_of(seconds: int, now: float) -> Pace | None:
    """The nearest interval that a cron expression can say, counted from now. None for more than a day."""
    minutes = max(1, -(-seconds // 60))
    moment = time.localtime(now)
    if minutes < 45:
        count = _nearest(minutes, _MINUTES[:-1])
        return Pace(
            f"*/{count} * * * *" if count > 1 else "* * * * *", _words(count, "minute"), count * 60 == seconds
        )
    hours = _nearest(minutes / 60, _HOURS)
    if minutes > 24 * 60:
        return None
    exact = hours * 3600 == seconds
    if hours == 24:
        return Pace(f"{moment.tm_min} {moment.tm_hour} * * *", "day", exact)
    if hours == 1:
        return Pace(f"{moment.tm_min} * * * *", "hour", exact)
    return Pace(f"{moment.tm_min} {moment.tm_hour % hours}-23/{hours} * * *", _words(hours, "hour"), exact)


def _nearest(wanted: float, choices: tuple[int, ...]) -> int:
    return min(choices, key=lambda one: (abs(one - wanted), one))


def _words(count: int, unit: str) -> str:
    return unit if count == 1 else f"{count} {unit}s"
