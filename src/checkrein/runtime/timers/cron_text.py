"""The five fields of a cron expression: minute, hour, day of the month, month, day of the week.

A field is `*`, a number, a range, a step or a list of them; months and days of the week also have names. As
in cron, a date that fits either the day of the month or the day of the week counts, when neither of the two
begins with `*`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.base.harmless import one_line

_LONGEST = 256
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_LAST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = re.compile(
    r"(?P<from>\*|[0-9]{1,2}|[a-z]{3})(?:-(?P<to>[0-9]{1,2}|[a-z]{3}))?(?:/(?P<step>[0-9]{1,2}))?"
)


class _Field(NamedTuple):
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def problem(self, text: str, why: str) -> UsageError:
        shown = one_line(text[:40])
        return UsageError(f"The {self.name} `{shown}` of the cron expression {why}.", kind="invalid_cron")

    def read(self, text: str) -> frozenset[int]:
        found: set[int] = set()
        for part in text.split(","):
            found.update(self._part(text, part))
        return frozenset(found)

    def _part(self, text: str, part: str) -> range:
        match = _PART.fullmatch(part.lower())
        if match is None or (match["from"] == "*" and match["to"]):
            raise self.problem(text, "is not a number, a range, a step or a list of them")
        step = int(match["step"] or 1)
        if step == 0:
            raise self.problem(text, "has a step of 0")
        if match["from"] == "*":
            return range(self.low, self.high + 1, step)
        first = self._number(text, match["from"])
        last = self._number(text, match["to"]) if match["to"] else self.high if match["step"] else first
        if last < first:
            raise self.problem(text, "has a range that goes backwards")
        return range(first, last + 1, step)

    def _number(self, text: str, word: str) -> int:
        if word.isdecimal():
            value = int(word)
        elif word in self.names:
            value = self.names.index(word) + self.low
        else:
            raise self.problem(text, f"has the unknown name `{word}`")
        if not self.low <= value <= self.high:
            raise self.problem(text, f"is not between {self.low} and {self.high}")
        return value


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, tuple(_MONTHS)),
    _Field("day of the week", 0, 7, tuple(_WEEKDAYS)),
)


class Cron(Struct, frozen=True, kw_only=True):
    """A day of the week is 0 (Sunday) to 6. `hourly`: the hour begins with `*`, so the job follows the time
    that passes, not the hands of the clock."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool
    hourly: bool

    def fits_date(self, month: int, day: int, weekday: int) -> bool:
        if month not in self.months:
            return False
        if self.either:
            return day in self.days or weekday in self.weekdays
        return day in self.days and weekday in self.weekdays

    def fits_time(self, hour: int, minute: int) -> bool:
        return hour in self.hours and minute in self.minutes


def parse_cron(text: str) -> Cron:
    """Raises UsageError with the name of the field that is wrong. Never raises anything else."""
    words = text.split() if len(text) <= _LONGEST else []
    if len(words) != len(_FIELDS):
        names = ", ".join(field.name for field in _FIELDS)
        shown = "is too long" if not words and text.strip() else f"has {len(words)} field(s)"
        raise UsageError(f"The cron expression {shown}; it needs five: {names}.", kind="invalid_cron")
    minutes, hours, days, months, weekdays = (
        field.read(word) for field, word in zip(_FIELDS, words, strict=True)
    )
    either = not words[2].startswith("*") and not words[4].startswith("*")
    if not either and min(days) > max(_LAST_DAYS[month - 1] for month in months):
        raise _FIELDS[2].problem(words[2], f"never comes in the month `{words[3][:40]}`")
    return Cron(
        text=" ".join(words),
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=frozenset(day % 7 for day in weekdays),
        either=either,
        hourly=words[1].startswith("*"),
    )
