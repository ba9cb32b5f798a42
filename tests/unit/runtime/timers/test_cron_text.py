from __future__ import annotations

import pytest

from checkrein.base.errors import UsageError
from checkrein.runtime.timers.cron_text import parse_cron


@pytest.mark.parametrize(
    ("text", "field", "values"),
    [
        ("*/20 * * * *", "minutes", {0, 20, 40}),
        ("5-9/2,50 * * * *", "minutes", {5, 7, 9, 50}),
        ("50/4 * * * *", "minutes", {50, 54, 58}),
        ("0 9-11 * * *", "hours", {9, 10, 11}),
        ("0 0 * jan,MAR *", "months", {1, 3}),
        ("0 0 * * Mon-fri", "weekdays", {1, 2, 3, 4, 5}),
        ("0 0 * * 5-7", "weekdays", {5, 6, 0}),
    ],
)
def test_fields(text: str, field: str, values: set[int]) -> None:
    assert getattr(parse_cron(text), field) == values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has 0 field"),
        ("* * * *", "has 4 field"),
        ("* * * * * *", "has 6 field"),
        ("@daily", "has 1 field"),
        ("60 * * * *", "The minute `60`"),
        ("* 24 * * *", "The hour `24`"),
        ("* * 0 * *", "The day of the month `0`"),
        ("* * * 13 *", "The month `13`"),
        ("* * * * 8", "The day of the week `8`"),
        ("*/0 * * * *", "a step of 0"),
        ("9-5 * * * *", "goes backwards"),
        ("* * L * *", "The day of the month `L`"),
        ("* * * foo *", "unknown name `foo`"),
        ("mon * * * *", "unknown name `mon`"),
        ("*-5 * * * *", "The minute `*-5`"),
        ("\x1b[2J * * * *", "The minute `\\x1b[2J`"),
        ("\ud800 * * * *", "The minute `\\ud800`"),
        ("1,,2 * * * *", "The minute `1,,2`"),
        ("٣ * * * *", "The minute"),
        ("0 0 30 2 *", "The day of the month `30` of the cron expression never comes in the month `2`"),
        ("0 0 31 2,4,6,9,11 *", "The day of the month `31`"),
    ],
)
def test_what_is_wrong_names_its_field(text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_cron(text)
    assert said in raised.value.message


def test_a_megabyte_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="too long"):
        parse_cron("1," * 500_000 + "1 * * * *")


def test_either_day_counts_only_when_both_are_named() -> None:
    assert parse_cron("0 0 13 * 5").fits_date(1, 13, 2)
    assert parse_cron("0 0 13 * 5").fits_date(1, 2, 5)
    assert not parse_cron("0 0 */2 * 5").fits_date(1, 2, 5)
    assert not parse_cron("0 0 30 2 1").fits_date(2, 28, 3)
