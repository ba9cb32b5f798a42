"""Observed substitution of Claude Code, row by row."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.runtime.skills.template import Piece, arguments, fill, has_placeholder, pieces, render

GIVEN = arguments('alpha "beta gamma" delta')
VARIABLES = {"CLAUDE_SESSION_ID": "S1", "CLAUDE_PROJECT_DIR": "/p"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("$ARGUMENTS", 'alpha "beta gamma" delta'),
        ("$0", "alpha"),
        ("$ARGUMENTS[0]", "alpha"),
        ("$1", "beta gamma"),
        ("$2", "delta"),
        ("[$9]", "[]"),
        ("$ARGUMENTS[9].", "."),
        (r"\$1", "$1"),
        (r"\$ARGUMENTS", "$ARGUMENTS"),
        (r"\\$1", r"\\beta gamma"),
        ("${CLAUDE_SESSION_ID}", "S1"),
        (r"\${CLAUDE_PROJECT_DIR}", r"\/p"),
        ("${UNKNOWN}", "${UNKNOWN}"),
        ("$ARGUMENTSX $HOME $x", "$ARGUMENTSX $HOME $x"),
        ("costs $5.00", "costs .00"),
    ],
)
def test_tokens(text: str, filled: str) -> None:
    assert fill(text, GIVEN, VARIABLES) == filled


def test_declared_names() -> None:
    given = arguments("12 main", ["issue", "branch", "c++"])
    assert fill("fix $issue on $branch ($issues) [$c++]", given, {}) == "fix 12 on main ($issues) []"
    assert fill(r"\$issue", given, {}) == "$issue"


def test_arguments_without_a_place_are_appended() -> None:
    assert render("Do it.\n", arguments("one two"), {}, _never) == "Do it.\n\nARGUMENTS: one two"
    assert render("Do $0.", arguments("one two"), {}, _never) == "Do one."
    assert render("Do it.", arguments(""), {}, _never) == "Do it."
    assert render(r"Pay \$1.", arguments("x"), {}, _never) == "Pay $1.\n\nARGUMENTS: x"


def test_values_are_never_read_again() -> None:
    hostile = arguments("$1 ${CLAUDE_SESSION_ID} !`rm -rf x`")
    assert render("> $ARGUMENTS", hostile, VARIABLES, _never) == "> $1 ${CLAUDE_SESSION_ID} !`rm -rf x`"


def _never(piece: Piece, command: str) -> str:
    raise AssertionError(f"{command} must not run")


def test_commands_inline_and_in_a_fence() -> None:
    body = "Status: !`git status`\nKEY=!`no`\n!`first`\n```!\nls\npwd\n```\nend `!`x``\n"
    found = [(piece.text, piece.line) for piece in pieces(body) if piece.command]
    assert found == [("git status", 1), ("first", 3), ("ls\npwd", 4)]
    ran: list[str] = []

    def run(piece: Piece, command: str) -> str:
        ran.append(command)
        return "OUT $0 !`again`"

    text = render("a !`echo $0` b", arguments("X"), {}, run)
    assert ran == ["echo X"]
    assert text == "a OUT $0 !`again` b"


def test_unbalanced_quotes_split_at_blanks() -> None:
    assert arguments('a "b c').parts == ("a", '"b', "c")


@settings(max_examples=200, derandomize=True)
@given(st.text(), st.text(), st.lists(st.text(min_size=1, max_size=5), max_size=3, unique=True))
def test_any_body_renders(body: str, raw: str, names: list[str]) -> None:
    text = render(body, arguments(raw, names), {}, lambda piece, command: "")
    assert isinstance(text, str)
    has_placeholder(body, names)
    assert "".join(p.text for p in pieces(body) if not p.command) in body or any(
        p.command for p in pieces(body)
    )


def test_blocks_that_never_end_are_text_and_cheap() -> None:
    text = "```!\n" * 60_000
    began = time.process_time()
    found = pieces(text)
    assert time.process_time() - began < 2, "a search for the end from each of them takes minutes"
    assert found == [Piece(text)]
