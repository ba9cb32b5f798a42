"""Bodies line by line: fences, code spans, places."""

from __future__ import annotations

import pytest

from checkrein.passes.checks.prose import code_spans, read_lines, without_spans


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ("a\n```\nb\n```\nc", [2, 3, 4]),
        ("a\n~~~\n```\nb\n~~~\nc", [2, 3, 4, 5]),
        ("````\n```\nb\n````\nc", [1, 2, 3, 4]),
        ("- x\n  ```sh\n  b\n  ```\nc", [2, 3, 4]),
        ("a ``` b\nc", []),
        ("```a`b\nc", []),
        ("a\n```\nnever closed", [2, 3]),
        ("a\r\n```\r\nb\r\n```\r\nc", [2, 3, 4]),
    ],
)
def test_fences(text: str, fenced: list[int]) -> None:
    assert [line.number for line in read_lines(text) if line.fenced] == fenced


def test_lines_count_from_the_body_and_keep_odd_breaks() -> None:
    lines = read_lines("a\x0bb\u2028c\nd", first=7)
    assert [(line.number, line.text) for line in lines] == [(7, "a\x0bb\u2028c"), (8, "d")]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a `b` c `d e`", [("b", 3), ("d e", 9)]),
        ("``a ` b`` c", [("a ` b", 2)]),
        ("no spans", []),
        ("`open", []),
    ],
)
def test_code_spans(text: str, spans: list[tuple[str, int]]) -> None:
    assert list(code_spans(text)) == spans
    blanked = without_spans(text)
    assert len(blanked) == len(text)
    assert all(content not in blanked for content, _ in spans)
