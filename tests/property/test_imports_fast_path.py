"""The quick scan for imports gives what the Markdown parser gives."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.dialects.claude.imports import _parsed, _plain

pieces = st.sampled_from(
    """@a.md|@docs/b.md|me@x.md|@~/c| |\n|\n\n|- |# |> |1. |word|`|```\n|    |@x.|(@y)|*|_|---\n|===\n|<b>|\\|2) |\r\n|\t|@|[z]|:
|&amp;|~~~""".split("|")
)


@settings(max_examples=2000, derandomize=True, deadline=None)
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
