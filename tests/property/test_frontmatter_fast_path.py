"""Frontmatter that is read without YAML is what YAML gives, values and places."""

from __future__ import annotations

import os
from unittest.mock import patch

from hypothesis import example, given, settings
from hypothesis import strategies as st

from checkrein.base import frontmatter

MORE = 10 if os.environ.get("CHECKREIN_CAMPAIGN") else 1
"""How many times the examples of CI; the long run is with CHECKREIN_CAMPAIGN=1."""

WORDS = (
    "name", "on", "Yes", "null", "~", "true", "12", "1.5", "0x1f", "2024-01-02", "a", "Use when", "don't",
    "é", "日本", "😀", "'", '"', "\\", "#", ":", ": ", " ", "  ", ",", "[", "]", "{", "}", "&", "*", "!",
    "|", ">", "%", "@", "`", "-", "- ", "?", "=", "<<", "\t", "\n", "\n ", "\u00a0", "\u0085", "\u2028",
    "\ufeff", "\x7f", "---", "...",
)  # fmt: skip
values = st.lists(st.sampled_from(WORDS), max_size=6).map("".join)
lines = st.tuples(st.sampled_from(("name", "description", "on", "a-b", "é", "x y", "1")), values).map(
    ": ".join
)


@settings(max_examples=1500 * MORE, derandomize=True, deadline=None)
@given(st.lists(lines, min_size=1, max_size=3).map("\n".join), st.sampled_from(("", "\n")))
@example("name: 'a'\ndescription: \"b: c\"", "\n")
@example("name: a:b#c", "")
def test_same_block(text: str, end: str) -> None:
    quick = frontmatter._load_plain(text + end, 2)
    if quick is not None:
        with patch.object(frontmatter, "_load_plain", return_value=None):
            assert quick == frontmatter.load_block(text + end, 2)


def test_ordinary_files_are_quick() -> None:
    assert frontmatter._load_plain("name: x\ndescription: 'Use when: needed'\ntools: Read, Bash(git *)\n", 2)
