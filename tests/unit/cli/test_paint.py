"""Excerpts: the caret stands below what it means, whatever the line holds."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from checkrein.base.origin import Origin, Span
from checkrein.base.secrets import REDACTED
from checkrein.cli import paint


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def pointed_at(tmp_path: Path, data: bytes, span: Span, field: str | None = None) -> tuple[str, str]:
    """The source line as it is shown, and the part of it above the caret."""
    file = tmp_path / "a file.md"
    file.write_bytes(data)
    excerpt = [click.unstyle(line) for line in paint.excerpt(Origin(str(file), "project", span, field))]
    if not excerpt:
        return "", ""
    _, source, caret = (line.split("|", 1)[1][1:] for line in excerpt)
    begin, end = caret.index("^"), len(caret)
    cells: list[str] = []
    for char in source:
        if paint.cells(char):
            cells += [char, *[""] * (paint.cells(char) - 1)]
        else:
            cells[-1] += char
    return source, "".join(cells[begin:end])


@pytest.mark.parametrize(
    ("data", "span"),
    [
        (b"one word here\n", Span(1, 5, 1, 9)),
        (b"\xef\xbb\xbfone word here\n", Span(1, 5, 1, 9)),
        (b"a\r\none word here\r\nb", Span(2, 5, 2, 9)),
        (b"\tone\tword here\n", Span(1, 6, 1, 10)),
        ("日本語 word here\n".encode(), Span(1, 5, 1, 9)),
        ("e\u0301te word here\n".encode(), Span(1, 6, 1, 10)),
        (b"x" * 500 + b" word " + b"y" * 500, Span(1, 502, 1, 506)),
        (b"a\x0cb word here", Span(1, 5, 1, 9)),
    ],
    ids=["plain", "bom", "crlf", "tabs", "wide", "combining", "long", "control"],
)
def test_the_caret_is_below_the_word(tmp_path: Path, data: bytes, span: Span) -> None:
    source, word = pointed_at(tmp_path, data, span)
    assert word == "word"
    assert paint.cells(source) <= 80


def test_a_place_without_an_end_reaches_to_the_end_of_the_line(tmp_path: Path) -> None:
    assert pointed_at(tmp_path, b"name: x\nnext\n", Span(1))[1] == "name: x"
    assert pointed_at(tmp_path, b"name: x\nnext\n", Span(1, 7, 2, 3))[1] == "x"


def test_a_secret_is_hidden_and_the_caret_stays(tmp_path: Path) -> None:
    line = b'{"a": 1, "TOKEN": "hunter2hunter2", "b": "word"}'
    source, word = pointed_at(tmp_path, line, Span(1, line.index(b"word") + 1, 1, line.index(b"word") + 5))
    assert "hunter2" not in source
    assert word == "word"
    at = line.index(b'"TOKEN"')
    assert pointed_at(tmp_path, line, Span(1, at + 1, 1, at + 26))[1].startswith(f'"TOKEN": "{REDACTED}')


def test_an_environment_value_is_hidden_wherever_its_block_starts(tmp_path: Path) -> None:
    data = b'{\n  "env": {\n    "PLAIN": "hunter2y"\n  }\n}\n'
    source, name = pointed_at(tmp_path, data, Span(3, 5, 3, 12), "$.env.PLAIN")
    assert source == f'    "PLAIN": "{REDACTED}"'
    assert name == '"PLAIN"'


@pytest.mark.parametrize("span", [Span(9), Span(1, 400, 1, 410)])
def test_a_place_outside_of_the_file_is_no_crash(tmp_path: Path, span: Span) -> None:
    pointed_at(tmp_path, b"short", span)


def test_a_file_that_is_gone_has_no_excerpt(tmp_path: Path) -> None:
    assert paint.excerpt(Origin(str(tmp_path / "none"), "project", Span(1))) == []
    assert paint.place_column(Origin("/x", "user")) == "/x:1:1"


def test_paths_are_short_and_say_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    below = home / "work" / "project" / "sub"
    below.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(below)
    assert paint.path(str(below / "a.md")) == "a.md"
    assert paint.path(str(below.parent / "CLAUDE.md")) == "../CLAUDE.md"
    assert paint.path(str(home / ".claude" / "settings.json")) == "~/.claude/settings.json"
    assert paint.path("<command line>") == "<command line>"
    assert paint.whole_path(str(below)) == "~/work/project/sub"


def test_fitting_counts_columns() -> None:
    assert paint.fit("abcdef", 6) == "abcdef"
    assert paint.fit("abcdefg", 6) == "abcde…"
    assert paint.fit("日本語日本語", 6) == "日本…"
    assert paint.pad("日本", 6) == "日本  "
