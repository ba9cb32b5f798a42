"""Literals of text that is full of quotes."""

from __future__ import annotations

import ast
from itertools import product

import pytest

from checkrein.compile import literals

TEXTS = ["".join(parts) for parts in product(('"', "\\", "'", "\n", "a"), repeat=4)]


@pytest.mark.parametrize("padding", ["", "x" * 60, "first line\nsecond line "])
def test_every_ending_means_its_value(padding: str) -> None:
    for text in (*TEXTS, '"' * 7, '"""\\"""', '\\"' * 5):
        value = padding + text
        assert ast.literal_eval(literals.text(value)) == value
        assert ast.literal_eval(literals.one_line(value)) == value
