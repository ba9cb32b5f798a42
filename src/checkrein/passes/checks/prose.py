"""Bodies line by line, with code separate from text.

Only opening and closing lines mark a fence: to parse all Markdown of a large project would take longer than
all other checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from checkrein.base.origin import Origin, Span
from checkrein.model.items import Agent, Command, Skill

_CHARS_PER_TOKEN = 4

_FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+|\d+[.)][ \t]+|>[ \t]?)*(`{3,}|~{3,})(.*)")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


class Line(Struct, frozen=True, gc=False):
    """`number` counts in the file, from 1. The lines of a fence, including its marks, are `fenced`."""

    number: int
    text: str
    fenced: bool


def read_lines(text: str, first: int = 1) -> list[Line]:
    lines: list[Line] = []
    closing = ""
    for number, line in enumerate(text.split("\n"), first):
        line = line.removesuffix("\r")
        mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if closing:
            lines.append(Line(number, line, True))
            if mark and mark[1].startswith(closing) and not mark[2].strip():
                closing = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            closing = mark[1]
            lines.append(Line(number, line, True))
        else:
            lines.append(Line(number, line, False))
    return lines


def code_spans(text: str) -> Iterator[tuple[str, int]]:
    """(content, column from 0) of every `code span` of one line."""
    if "`" in text:
        for match in _SPAN.finditer(text):
            yield match[2], match.start(2)


def without_spans(text: str) -> str:
    """The line with blanks in place of its code spans; columns stay."""
    return _SPAN.sub(lambda match: " " * len(match[0]), text) if "`" in text else text


def spot(item: Skill | Command | Agent, line: int, start: int, end: int) -> Origin:
    """A place in an item's body; columns count from 0."""
    return item.origin.at(Span(line, start + 1, line, end + 1), "body")


def tokens(text: str) -> int:
    """A rough count, on the low side for code and for most languages other than English."""
    return len(text) // _CHARS_PER_TOKEN
