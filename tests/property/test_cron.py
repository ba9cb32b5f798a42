"""A cron expression against a walk through the minutes, in zones whose clocks change."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from checkrein.base.errors import UsageError
from checkrein.runtime.timers.cron_text import parse_cron
from checkrein.runtime.timers.cron_times import next_run

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Havana",
    "Africa/Cairo",
    "Asia/Kathmandu",
)
DAYS = 3
CHANGES = ("2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-10-04", "2026-04-05", "2026-04-24")
BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


@contextmanager
def zone(name: str) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


def values(text: str, low: int, high: int) -> set[int]:
    """A field, read in the plainest way."""
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if first == "*":
            numbers = list(range(low, high + 1))
        elif last:
            numbers = list(range(int(first), int(last) + 1))
        else:
            numbers = list(range(int(first), high + 1)) if step else [int(first)]
        found.update(numbers[:: int(step or 1)])
    return found


class Plain:
    """What an expression means, field by field."""

    def __init__(self, text: str) -> None:
        words = text.split()
        self.fields = [values(word, *bound) for word, bound in zip(words, BOUNDS, strict=True)]
        self.starred = words[2].startswith("*") or words[4].startswith("*")
        self.hourly = words[1].startswith("*")

    def fits(self, reading: datetime) -> bool:
        minute, hour, day, month, week = self.fields
        if reading.minute not in minute or reading.hour not in hour or reading.month not in month:
            return False
        weekday = reading.isoweekday() % 7
        days = reading.day in day, weekday in week or (weekday == 0 and 7 in week)
        return all(days) if self.starred else any(days)


def walked(text: str, after: float, name: str) -> float | None:
    """The first due minute in the next days, minute by minute."""
    plain = Plain(text)
    here = ZoneInfo(name)
    moment = datetime.fromtimestamp(after - after % 60, UTC)
    seen = moment.astimezone(here).replace(tzinfo=None) - timedelta(hours=4)
    back = moment - timedelta(hours=4)
    while back <= moment:
        seen = max(seen, back.astimezone(here).replace(tzinfo=None))
        back += timedelta(minutes=1)
    for _ in range(DAYS * 1440):
        moment += timedelta(minutes=1)
        reading = moment.astimezone(here).replace(tzinfo=None)
        candidates = [reading] if plain.hourly or reading > seen else []
        while not plain.hourly and seen + timedelta(minutes=1) < reading:
            seen += timedelta(minutes=1)
            candidates.append(seen)
        if any(map(plain.fits, candidates)):
            return moment.timestamp()
        seen = max(seen, reading)
    return None


def field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    span = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    step = st.integers(1, 12)
    part = st.one_of(
        st.just("*"),
        number.map(str),
        span,
        st.tuples(st.just("*") | span | number.map(str), step).map(lambda pair: f"{pair[0]}/{pair[1]}"),
    )
    return st.lists(part, min_size=1, max_size=2).map(",".join)


ANY = st.just("*")
EXPRESSIONS = st.tuples(
    field(*BOUNDS[0]),
    field(*BOUNDS[1]),
    ANY | field(*BOUNDS[2]),
    ANY | ANY | ANY | field(*BOUNDS[3]),
    ANY | field(*BOUNDS[4]),
).map(" ".join)
MOMENTS = st.tuples(st.sampled_from(CHANGES), st.integers(-2 * 86_400, 86_400)).map(
    lambda pair: datetime.fromisoformat(f"{pair[0]}T00:00:00+00:00").timestamp() + pair[1]
)


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, MOMENTS, st.sampled_from(ZONES))
@example("30 2 * * *", datetime(2026, 3, 28, 12, tzinfo=UTC).timestamp(), "Europe/Berlin")
@example("30 2 * * *", datetime(2026, 10, 25, 0, 31, tzinfo=UTC).timestamp(), "Europe/Berlin")
@example("*/30 * * * *", datetime(2026, 10, 25, 0, 31, tzinfo=UTC).timestamp(), "Europe/Berlin")
@example("0 0 * * *", datetime(2026, 3, 7, 12, tzinfo=UTC).timestamp(), "America/Havana")
@example("0 0 * * *", datetime(2026, 4, 23, 12, tzinfo=UTC).timestamp(), "Africa/Cairo")
@example("45 1 * * *", datetime(2026, 4, 4, 12, tzinfo=UTC).timestamp(), "Australia/Lord_Howe")
@example("15 2 * * *", datetime(2026, 10, 3, 12, tzinfo=UTC).timestamp(), "Australia/Lord_Howe")
def test_the_next_run_is_the_first_minute_that_fits(text: str, after: float, name: str) -> None:
    expected = walked(text, after, name)
    with zone(name):
        try:
            found = next_run(parse_cron(text), after)
        except UsageError:
            found = None
    if expected is not None:
        assert found == expected
    else:
        assert found is None or found > after + (DAYS - 1) * 86_400


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.text(alphabet="0123456789*/-,monjan \t\n\0é٣", max_size=40) | st.text(max_size=60))
def test_the_parser_is_total(text: str) -> None:
    with suppress(UsageError):
        cron = parse_cron(text)
        assert parse_cron(cron.text) == cron


@pytest.mark.parametrize("moment", [-1e18, 1e18, float("inf"), float("nan")])
def test_a_clock_out_of_all_bounds_is_an_error_of_use(moment: float) -> None:
    with pytest.raises(UsageError):
        next_run(parse_cron("0 0 1 1 *"), moment)
