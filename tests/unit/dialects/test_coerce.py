import datetime
from typing import Any

import pytest

from checkrein.dialects.coerce import (
    WRONG,
    as_flag,
    as_globs,
    as_int,
    as_map,
    as_names,
    as_number,
    as_text,
    as_text_map,
    as_texts,
    as_tools,
    as_words,
    plain,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", "x"),
        (12, "12"),
        (1.5, "1.5"),
        (True, "true"),
        (["topic"], "[topic]"),
        (["a", 2], "[a, 2]"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        ({"a": 1}, WRONG),
        ([{"a": 1}], WRONG),
    ],
)
def test_text(value: Any, expected: Any) -> None:
    assert as_text(value) == expected


@pytest.mark.parametrize("word", ["true", "Yes", "ON", "1", 1, True])
def test_flags_that_mean_yes(word: Any) -> None:
    assert as_flag(word) is True


@pytest.mark.parametrize("word", ["false", "No", "OFF", "0", 0, False])
def test_flags_that_mean_no(word: Any) -> None:
    assert as_flag(word) is False


@pytest.mark.parametrize("value", ["maybe", 2, None, [], 1.0])
def test_other_words_are_no_flags(value: Any) -> None:
    assert as_flag(value) is WRONG


def test_whole_numbers() -> None:
    assert as_int(3) == 3
    assert as_int("12") == 12
    assert as_int(True) is WRONG
    assert as_int("x") is WRONG
    assert as_int("9" * 30) is WRONG


def test_numbers() -> None:
    assert as_number(3) == 3.0
    assert as_number(True) is WRONG
    assert as_number("3") is WRONG
    assert as_number(10**400) is WRONG


def test_tools_are_split_outside_parentheses() -> None:
    assert as_tools("Bash(git log *, -p), Read Grep") == ("Bash(git log *, -p)", "Read", "Grep")
    assert as_tools(["Bash(npm run *)", "Read"]) == ("Bash(npm run *)", "Read")
    assert as_tools({"a": 1}) is WRONG


def test_globs_are_split_outside_braces() -> None:
    assert as_globs("src/**/*.{ts,tsx}, lib/*.js") == ("src/**/*.{ts,tsx}", "lib/*.js")
    assert as_globs(["a", "b"]) == ("a", "b")


def test_names_and_words() -> None:
    assert as_names("a, b,c") == ("a", "b", "c")
    assert as_words("issue branch") == ("issue", "branch")
    assert as_words([{"name": "issue"}, "branch"]) == ("issue", "branch")
    assert as_words([{"x": 1}]) is WRONG
    assert as_texts("one") == ("one",)


def test_plain_values_are_what_json_can_say() -> None:
    value = {None: {True: 1, 2.5: {"b", "a"}}, datetime.date(2026, 1, 2): [(1, 2)], ("x", 1): 3}
    assert plain(value) == {"null": {"true": 1, "2.5": ["a", "b"]}, "2026-01-02": [[1, 2]], "[x, 1]": 3}


def test_maps() -> None:
    assert as_map({1: "a"}) == {"1": "a"}
    assert as_map([]) is WRONG
    assert as_text_map({"A": 1}) == {"A": "1"}
    assert as_text_map({"A": ["x"]}) is WRONG
