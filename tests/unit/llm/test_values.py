from __future__ import annotations

import pytest

from checkrein.llm.values import count, depth, loads


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        (7, 7),
        ("7", 7),
        ("many", 0),
        (-3, 0),
        (1.9, 1),
        (True, 0),
        (None, 0),
        ([], 0),
        (10**40, 10**12),
        ("9" * 99, 0),
    ],
)
def test_counts(said: object, counted: int) -> None:
    assert count(said) == counted


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'"\\ud800"', "\ud800"),
        (b'"\xff"', "\N{REPLACEMENT CHARACTER}"),
        (b"{", None),
        (b"[" * 100_000, None),
        ('{"a": 1}', {"a": 1}),
    ],
)
def test_json_as_it_comes(text: bytes | str, value: object) -> None:
    assert loads(text) == value


def test_depth() -> None:
    assert [depth(value, 3) for value in (1, [], [[]], {"a": [[[[]]]]})] == [0, 1, 2, 4]
