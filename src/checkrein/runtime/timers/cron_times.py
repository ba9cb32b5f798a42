"""When a cron expression is due, in local time.

Where the clock skips an hour, a job for a time in it is due in the first minute after the gap. Where the
clock repeats an hour, a job for a time in it is due once. A job whose hour begins with `*` follows the time
that passes: it misses nothing that exists, and is due in both hours.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from checkrein.base.errors import UsageError
from checkrein.runtime.timers.cron_text import Cron

YEARS = 9
"""How far to look. The longest way between two leap days is eight years."""
_MINUTE = 60
_DAY = 86_400
_STEP = 900
_REACH = 6 * 3600
"""No clock changes by more than this on one day."""


def next_run(cron: Cron, after: float) -> float:
    """The first due minute after this instant, in seconds since the epoch. Raises UsageError when there is
    none for years."""
    try:
        found = _next(cron, after)
    except (OverflowError, ValueError, OSError):  # the clock shows a year that the calendar does not have
        found = None
    if found is None:
        month, week = sorted(cron.months), sorted(cron.weekdays)
        raise UsageError(
            f"The day of the month in `{cron.text}` does not come within {YEARS} years "
            f"(days {sorted(cron.days)}, months {month}, days of the week {week}).",
            kind="invalid_cron",
        )
    return found


def _next(cron: Cron, after: float) -> float | None:
    year, month, day = time.localtime(after)[:3]
    for offset in range(YEARS * 366):
        noon = time.localtime(time.mktime((year, month, day + offset, 12, 0, 0, 0, 0, -1)))
        if cron.fits_date(noon.tm_mon, noon.tm_mday, (noon.tm_wday + 1) % 7):
            for moment in _minutes(cron, noon):
                if moment > after:
                    return float(moment)
    return None


def _minutes(cron: Cron, date: time.struct_time) -> Iterator[int]:
    """The due minutes of a date that fits."""
    first, end = _beginning(date, 0), _beginning(date, 1)
    begins, ends = time.localtime(first), time.localtime(end - _MINUTE)
    if begins[3:5] == (0, 0) and ends[3:5] == (23, 59) and begins.tm_gmtoff == ends.tm_gmtoff:
        for hour in sorted(cron.hours):
            yield from (first + hour * 3600 + minute * _MINUTE for minute in sorted(cron.minutes))
        return
    shown = -1
    for moment in range(first, end, _MINUTE):
        reading = time.localtime(moment)
        now = reading.tm_hour * 60 + reading.tm_min
        skipped = () if cron.hourly else range(shown + 1, now)
        repeated = now <= shown and not cron.hourly
        if any(cron.fits_time(*divmod(one, 60)) for one in skipped) or (
            not repeated and cron.fits_time(reading.tm_hour, reading.tm_min)
        ):
            yield moment
        shown = max(shown, now)


def _beginning(date: time.struct_time, later: int) -> int:
    """The first minute of a date, or of the one after it."""
    year, month, day = date[:3]
    wanted = time.localtime(time.mktime((year, month, day + later, 12, 0, 0, 0, 0, -1)))[:3]
    guess = int(time.mktime((*wanted, 0, 0, 0, 0, 0, -1)))
    for moment in range(guess - _REACH, guess + _REACH, _STEP):
        if time.localtime(moment)[:3] >= wanted:
            return moment
    return guess
