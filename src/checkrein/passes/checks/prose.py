"""Bodies line by line: what is an instruction, what is code, what is an example.

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
_NESTING = frozenset({"markdown", "md", "mdx"})
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "terminal"})

_EXAMPLE = re.compile(
    r"(?i)\bexamples?\b(?!/)|\be\.g\.|\bsuch as\b|\blike\b|\bfor instance\b|\bsuppose\b|\bimagine\b"
    r"|\bplaceholders?\b"
)
_EXAMPLE_SECTION = re.compile(r"(?i)\W*(?:examples?|samples?|anti-?patterns?|bad|good|wrong|right)\b")
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
    `language`. `sample`: the line stands below a heading that announces examples or a template."""

    number: int
    text: str
    fenced: bool
    language: str = ""
    sample: bool = False

    @property
    def shell(self) -> bool:
        return self.fenced and self.language in _SHELLS


def read_lines(text: str, first: int = 1) -> list[Line]:
    """A fence of Markdown may hold fences: one with a language opens another level, as its author meant."""
    lines: list[Line] = []
    closing: list[str] = []
    language = ""
    sample = 0
    for number, line in enumerate(text.split("\n"), first):
        line = line.removesuffix("\r")
        mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if closing:
            lines.append(Line(number, line, True, language, bool(sample)))
            if mark is None or mark[1][0] != closing[-1][0]:
                continue
            if not mark[2].strip():
                if mark[1].startswith(closing[-1]):
                    closing.pop()
            elif language in _NESTING and "`" not in mark[2]:
                closing.append(mark[1])
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            closing.append(mark[1])
            language = mark[2].strip().partition(" ")[0].lower()
            lines.append(Line(number, line, True, language, bool(sample)))
        else:
            if line.startswith("#") and (heading := _HEADING.match(line)):
                level = len(heading[1])
                if not sample or level <= sample:
                    sample = level if _EXAMPLE_SECTION.match(heading[2]) else 0
            lines.append(Line(number, line, False, "", bool(sample)))
    return lines


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
