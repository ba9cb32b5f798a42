from __future__ import annotations

import time

import pytest

from checkrein.runtime.timers.cron_text import parse_cron
from checkrein.runtime.timers.intervals import Loop, pace_of, read_loop

NOW = time.mktime((2026, 1, 2, 13, 7, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("text", "loop"),
    [
        ("5m check it", Loop("check it", 300)),
        ("90s  check\nit", Loop("check\nit", 90)),
        ("2H /deploy now", Loop("/deploy now", 7200)),
        ("check it every 10 minutes", Loop("check it", 600)),
        ("check it every 2h", Loop("check it", 7200)),
        ("check it", Loop("check it")),
        ("5 apples", Loop("5 apples")),
        ("5m", Loop("", 300)),
        ("check every PR", Loop("check every PR")),
        ("", Loop("")),
    ],
)
def test_reading(text: str, loop: Loop) -> None:
    assert read_loop(text) == loop


@pytest.mark.parametrize(
    ("seconds", "cron", "words", "exact"),
    [
        (1, "* * * * *", "minute", False),
        (60, "* * * * *", "minute", True),
        (300, "*/5 * * * *", "5 minutes", True),
        (420, "*/6 * * * *", "6 minutes", False),
        (3600, "7 * * * *", "hour", True),
        (5400, "7 * * * *", "hour", False),
        (7200, "7 1-23/2 * * *", "2 hours", True),
        (86_400, "7 13 * * *", "day", True),
    ],
)
def test_the_nearest_expression(seconds: int, cron: str, words: str, exact: bool) -> None:
    pace = pace_of(seconds, NOW)
    assert pace is not None
    assert (pace.cron, pace.words, pace.exact) == (cron, words, exact)
    parse_cron(pace.cron)


def test_more_than_a_day_has_no_expression() -> None:
    assert pace_of(86_400 + 60, NOW) is None
