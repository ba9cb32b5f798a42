"""`@path` imports and block comments of an instruction file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from bridle.base.origin import Span

_CANDIDATE = re.compile(r"(?:^|(?<=\s))@(?=[\w.~/-])", re.MULTILINE)
_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:\\ |[^\s\\\0])+)")
_TRAILING = ".,;:!?)]}'\"*_>"


class Mention(Struct, frozen=True):
    """An `@path` outside code and comments. `paths` are the spellings to try, longest first."""

    paths: tuple[str, ...]
    span: Span


def scan(text: str) -> tuple[str, tuple[Mention, ...]]:
    """(text without block comments, mentions). Markdown is parsed only when something in it may matter."""
    if "<!--" not in text and _CANDIDATE.search(text) is None:
        return text, ()
    lines = text.split("\n")
    dropped: set[int] = set()
    mentions: list[Mention] = []
    for token in _parser().parse(text):
        if token.type == "html_block" and token.map:
            content = token.content.strip()
            if content.startswith("<!--") and content.find("-->") == len(content) - 3:
                dropped.update(range(token.map[0], token.map[1]))
        elif token.type == "inline" and token.map and "@" in token.content:
            mentions.extend(_mentions(token.children or [], token.map[0], lines))
    if dropped:
        text = "\n".join(line for number, line in enumerate(lines) if number not in dropped)
    return text, tuple(mentions)


def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def _mentions(children: list[Any], first_line: int, lines: list[str]) -> Iterator[Mention]:
    line = first_line
    column = 0
    glued = False
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            line, column, glued = line + 1, 0, False
        elif child.type == "text":
            for match in _IMPORT.finditer(child.content):
                if match.start() == 0 and glued:
                    continue
                written = match[1]
                source = lines[line] if line < len(lines) else ""
                at = source.find("@" + written, column)
                if at < 0:
                    at = column
                else:
                    column = at + 1 + len(written)
                path = written.replace("\\ ", " ")
                shorter = path.rstrip(_TRAILING)
                spellings = (path, shorter) if shorter and shorter != path else (path,)
                yield Mention(spellings, Span(line + 1, at + 1, line + 1, at + 2 + len(written)))
            glued = bool(child.content) and not child.content[-1].isspace()
        else:
            glued = child.type == "code_inline" or (glued and child.nesting != 1)
