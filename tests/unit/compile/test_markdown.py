"""The short cuts of the Markdown parser change nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.compile.markdown import DEEP, plain_parser, tokens

_LINES = st.sampled_from(
    [
        *(
            "",
            "  ",
            "\t",
            "text",
            "  text",
            "    text",
            "\ttext",
            "# Title",
            "#no",
            "### Deep ###",
            "---",
            "- - -",
        ),
        *("===", "  ---", "> ---", "> text", ">", "> - a", "- item", "-", "  - inner", "1. one", "2) two"),
        *(
            "10. ten",
            "* star",
            "+ plus",
            "```",
            "```python",
            "  ```",
            "~~~",
            "> ```",
            "| a | b |",
            "|---|---|",
        ),
        *(
            "a | b",
            "--- | ---",
            ":-: | --",
            "<div>",
            "<!-- x",
            "-->",
            "<pre>",
            "</pre>",
            "[a]: http://x",
            "[a]:",
        ),
        *(
            "'title'",
            "\\",
            "\xa0",
            "\x0b",
            "= =",
            "-=",
            "__",
            "***",
            "    ===",
            "   1. three",
            "- ---",
            "\x00",
        ),
    ]
)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(st.lists(_LINES, max_size=14))
def test_the_tokens_are_those_of_the_library(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert tokens(text) == [token for token in plain_parser().parse(text) if token.level < DEEP]


@pytest.mark.parametrize(
    "text", ["a\n---", "> a\n> ===", "> | a |\n> |---|", "a\n\n---\nb\n===", "| a |\n|---|\n| b |\n---"]
)
def test_underlined_headings_and_tables_are_found(text: str) -> None:
    known = [token.type for token in plain_parser().parse(text) if token.level < DEEP]
    assert [token.type for token in tokens(text)] == known
    assert {token.type for token in tokens(text)} & {"heading_open", "table_open"}


@pytest.mark.parametrize("inside", ["  ---", "  | b |\n  |---|", "  > b\n  > ===", "  - b\n    - c"])
def test_what_lies_deep_decides_where_an_item_ends_and_leaves_no_tokens(inside: str) -> None:
    text = f"- a\n{inside}\n- d\n\nend"
    found = tokens(text)
    assert {token.type for token in found if token.level == 1} == {
        *("list_item_open", "list_item_close", "inline"),
    }
    ends = [token.map for token in found if token.type == "list_item_open"]
    assert ends == [
        token.map
        for token in plain_parser().parse(text)
        if token.type == "list_item_open" and token.level == 1
    ]
    assert len(ends) == 2
    assert max(token.level for token in found) < DEEP
