"""Bodies: what is an instruction, what is code, what is an example.

A check searches the whole text first, and only a hit asks for its line, its fence and its section. Only
opening and closing lines mark a fence: to parse all Markdown of a large project would take longer than all
other checks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from checkrein.base.origin import Origin, Span
from checkrein.model.items import Agent, Command, Skill

_CHARS_PER_TOKEN = 4

Range = tuple[int, int, str]
"""From, to, and a label."""

_FENCE = re.compile(r"^[ \t]*(?:[-*+][ \t]+|\d+[.)][ \t]+|>[ \t]?)*(`{3,}|~{3,})(.*)$", re.M)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_NESTING = frozenset({"markdown", "md", "mdx"})
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "terminal"})

_EXAMPLE = re.compile(
    r"(?i)\bexamples?\b(?!/)|\be\.g\.|\bsuch as\b|\blike\b|\bfor instance\b|\bsuppose\b|\bimagine\b"
    r"|\bplaceholders?\b|\bwould be\b|\bcould be\b"
)
_EXAMPLE_SECTION = re.compile(r"(?i)\W*(?:examples?|samples?|anti-?patterns?|bad|good|wrong|right)\b")
_WARNING = re.compile(
    r"(?i)\b(?:not|never|avoid|don't|do not|instead of|rather than|wrong|incorrect|bad|worse)\b|[✗❌✘]"
)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_KINDS = (
    r"(?:skills?|SKILL\.md|sub-?agents?|slash commands?"
    r"|claude(?: code)? (?:agents?|commands?|plugins?|hooks?))"
)
_TEACHING = re.compile(
    r"(?i)\b(?:creat|writ|build|author|develop|scaffold|generat|design|optimi[sz])\w*\s(?:[\w-]+\s){0,4}?"
    + _KINDS
    + r"\b|\b"
    + _KINDS
    + r" (?:creat|writ|build|author|develop|generat|design)\w*\b"
    r"|\b(?:agent|command|hook) (?:development|creator|builder|authoring|creation|design)\b"
    r"|\bbuilder (?:agent|command|plugin|skill)\b"
)


class Line(Struct, frozen=True, gc=False):
    """`number` counts in the file, from 1. The lines of a fence, including its marks, are `fenced`, with its
    `language`. `sample`: the line stands below a heading that announces examples."""

    number: int
    text: str
    fenced: bool
    language: str = ""
    sample: bool = False

    @property
    def shell(self) -> bool:
        return self.fenced and self.language in _SHELLS


class Hit(Struct, frozen=True, gc=False):
    """A match of a pattern in a body; columns count from 0."""

    match: re.Match[str]
    line: Line
    start: int
    end: int


class Body:
    """The text of an item, from line `first` of its file."""

    def __init__(self, text: str, first: int = 1) -> None:
        self.text = text
        self.first = first

    def hits(self, pattern: re.Pattern[str], *starts: str) -> Iterator[Hit]:
        """Every match, with its line. The pattern must stay in one line. `starts` are texts that a match can
        begin with: to look for them is much quicker."""
        for match in self._at(pattern, starts) if starts else pattern.finditer(self.text):
            line, begin = self._line(match.start())
            yield Hit(match, line, match.start() - begin, match.end() - begin)

    def _at(self, pattern: re.Pattern[str], starts: Sequence[str]) -> Iterator[re.Match[str]]:
        for start in starts:
            at = self.text.find(start)
            while at >= 0:
                match = pattern.match(self.text, at)
                if match is not None:
                    yield match
                at = self.text.find(start, match.end() if match else at + 1)

    def place(self, offset: int) -> tuple[Line, int]:
        """The line of an offset in the text, and the column in it."""
        line, begin = self._line(offset)
        return line, offset - begin

    def offset(self, number: int, column: int) -> int:
        """The offset in the text of a column (from 0) of a line, by its number in the file."""
        return self._starts[number - self.first] + column

    def line(self, number: int) -> Line:
        """A line by its number in the file."""
        return self._line(self._starts[number - self.first])[0]

    def lines(self) -> Iterator[Line]:
        for start in self._starts:
            yield self._line(start)[0]

    def heading(self, number: int) -> str:
        """The heading of the section that holds a line, by its number in the file."""
        offset, found = self._starts[number - self.first], ""
        for match in self._headings():
            if match.start() > offset:
                break
            if _held(self._fences, match.start()) is None:
                found = match[2]
        return found

    def _line(self, offset: int) -> tuple[Line, int]:
        at = bisect_right(self._starts, offset) - 1
        begin = self._starts[at]
        end = self._starts[at + 1] - 1 if at + 1 < len(self._starts) else len(self.text)
        language = _held(self._fences, begin)
        text = self.text[begin:end].removesuffix("\r")
        sample = _held(self._samples, begin) is not None
        return Line(self.first + at, text, language is not None, language or "", sample), begin

    @cached_property
    def _starts(self) -> list[int]:
        lengths = map(len, self.text.split("\n"))
        return list(accumulate(map((1).__add__, lengths), initial=0))[:-1]

    @cached_property
    def _fences(self) -> list[Range]:
        """A fence of Markdown may hold fences: one with a language opens another, as its author meant."""
        found: list[Range] = []
        closing: list[str] = []
        begin, language = 0, ""
        for match in _FENCE.finditer(self.text) if "```" in self.text or "~~~" in self.text else ():
            mark, info = match[1], match[2].strip()
            if not closing:
                if mark[0] == "`" and "`" in info:
                    continue
                begin, language = match.start(), info.partition(" ")[0].lower()
                closing.append(mark)
            elif mark[0] != closing[-1][0]:
                continue
            elif not info:
                if mark.startswith(closing[-1]):
                    closing.pop()
                    if not closing:
                        found.append((begin, match.end(), language))
            elif language in _NESTING and "`" not in info:
                closing.append(mark)
        if closing:
            found.append((begin, len(self.text) + 1, language))
        return found

    def _headings(self) -> Iterator[re.Match[str]]:
        at = 0 if self.text.startswith("#") else self.text.find("\n#") + 1
        while at or self.text.startswith("#"):
            match = _HEADING.match(self.text, at)
            if match is not None:
                yield match
            following = self.text.find("\n#", at)
            if following < 0:
                return
            at = following + 1

    @cached_property
    def _samples(self) -> list[Range]:
        found: list[Range] = []
        level, begin = 0, 0
        for match in self._headings():
            depth = len(match[1])
            if (level and depth > level) or _held(self._fences, match.start()) is not None:
                continue
            if level:
                found.append((begin, match.start(), ""))
            level, begin = (depth, match.start()) if _EXAMPLE_SECTION.match(match[2]) else (0, 0)
        if level:
            found.append((begin, len(self.text) + 1, ""))
        return found


def _held(ranges: list[Range], offset: int) -> str | None:
    """The label of the range that holds an offset."""
    if not ranges:
        return None
    at = bisect_right(ranges, offset, key=lambda one: one[0]) - 1
    return ranges[at][2] if at >= 0 and offset < ranges[at][1] else None


def read_lines(text: str, first: int = 1) -> Iterator[Line]:
    return Body(text, first).lines()


def code_spans(text: str) -> Iterator[tuple[str, int]]:
    """(content, column from 0) of every `code span` of one line."""
    if "`" in text:
        for match in _SPAN.finditer(text):
            yield match[2], match.start(2)


def without_spans(text: str) -> str:
    """The line with blanks in place of its code spans; columns stay."""
    return _SPAN.sub(lambda match: " " * len(match[0]), text) if "`" in text else text


def is_example(text: str) -> bool:
    """Whether a line gives an example: what it names need not exist."""
    return _EXAMPLE.search(text) is not None


def warns(text: str) -> bool:
    """Whether a line shows what not to write."""
    return _WARNING.search(text) is not None


def teaches(item: Skill | Command | Agent) -> bool:
    """Whether an item explains how to write skills, agents, commands, hooks or plugins. Its body shows files
    and placeholders that are not its own."""
    return _TEACHING.search(f"{item.name.replace('-', ' ')}. {item.description or ''}") is not None


def spot(item: Skill | Command | Agent, line: int, start: int, end: int) -> Origin:
    """A place in an item's body; columns count from 0."""
    return item.origin.at(Span(line, start + 1, line, end + 1), "body")


def body_start(item: Skill | Command | Agent) -> Origin:
    """The first line of a body that is not blank."""
    blank = len(item.body) - len(item.body.lstrip())
    line = item.body_line + item.body.count("\n", 0, blank)
    return item.origin.at(Span(line), "body")


def tokens(text: str) -> int:
    """A rough count, on the low side for code and for most languages other than English."""
    return len(text) // _CHARS_PER_TOKEN
