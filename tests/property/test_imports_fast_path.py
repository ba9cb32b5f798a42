"""The quick scan for imports gives what the Markdown parser gives."""

from __future__ import annotations

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.dialects.claude.imports import _parsed, _plain

MORE = 10 if os.environ.get("CHECKREIN_CAMPAIGN") else 1
"""How many times the examples of CI; the long run is with CHECKREIN_CAMPAIGN=1."""

MENTIONS = ("@a.md", "@docs/b.md", "me@x.md", "@~/c", "@x.", "(@y)", "@")
BLOCKS = (
    "\n",
    "\n\n",
    "\r\n",
    "- ",
    "# ",
    "> ",
    "1. ",
    "2) ",
    "---\n",
    "===\n",
    "```\n",
    "~~~",
    "    ",
    "\t",
)
INLINE = (" ", "word", "`", "*", "_", "<b>", "\\", "[z]", ":", "&amp;", "|")
pieces = st.sampled_from(MENTIONS + BLOCKS + INLINE)


@settings(max_examples=1000 * MORE, derandomize=True, deadline=None)
@given(st.lists(pieces, max_size=14).map("".join))
def test_same_mentions(text: str) -> None:
    quick = _plain(text)
    if quick is not None:
        kept, slow = _parsed(text)
        assert kept == text
        assert [mention.paths for mention in quick] == [mention.paths for mention in slow]
        assert [mention.span.line for mention in quick] == [mention.span.line for mention in slow]


def test_ordinary_lists_are_quick() -> None:
    text = "# Title\n\nUse `x` here.\n\n- Code is in `src`.\n- Style: @docs/style.md\n"
    found = _plain(text)
    assert found is not None
    assert [mention.paths[0] for mention in found] == ["docs/style.md"]
