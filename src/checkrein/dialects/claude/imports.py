"""`@path` imports and block comments of an instruction file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checkrein.base.origin import Span

_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:\\ |[^\s\\\0])+)", re.MULTILINE)
_ANYWHERE = re.compile(r"@(?<!\S@)((?:\\ |[^\s\\\0])+)")
_CODE = re.compile(r"```|~~~|<!--|^(?: {4}|\t| +\t)|\r(?!\n)|[\v\f\x1c-\x1e\x85\u2028\u2029]", re.MULTILINE)
_BLOCK_START = re.compile(r" {0,3}(?:[-*+] |#{1,6} |>|1[.)] )")
_SPECIAL = re.compile(r"[`<\[\]\\&*_|!]|^ {0,3}\[|\t|^[ >-]*>", re.MULTILINE)
_TRAILING = ".,;:!?)]}'\"*_>"


class Mention(Struct, frozen=True):
    """An `@path` outside code and comments. `paths` are the spellings to try, longest first."""

    paths: tuple[str, ...]
    span: Span


def scan(text: str) -> tuple[str, tuple[Mention, ...]]:
    """(text without block comments, mentions). It parses Markdown only when something in it may matter."""
    if "<!--" not in text and "@" not in text:
        return text, ()
    plain = _plain(text)
    return (text, plain) if plain is not None else _parsed(text)


def _plain(text: str) -> tuple[Mention, ...] | None:
    """The mentions of a text in which no Markdown construct can affect them; None when one could.

    That is: no fence, comment or indented code at all, and only plain words in the blocks with an `@`.
    """
    if _CODE.search(text) is not None:
        return None
    mentions: list[Mention] = []
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*text.split("\n"), ""]):
        if not line.strip() or _BLOCK_START.match(line):
            found = _of_block(block)
            if found is None:
                return None
            mentions += found
            block = []
        block.append((number, line))
    last = _of_block(block)
    return None if last is None else (*mentions, *last)


def _of_block(block: list[tuple[int, str]]) -> list[Mention] | None:
    text = "\n".join(line for _, line in block)
    if "@" not in text:
        return []
    if _SPECIAL.search(text) is not None:
        return None
    return [
        _mention(match[1], number, match.start())
        for number, line in block
        for match in _IMPORT.finditer(line.rstrip("\r"))
    ]


def candidates(text: str) -> set[tuple[str, ...]]:
    """The spellings of everything after an `@`, even in code and comments: more than `scan` finds."""
    return {_spellings(written) for written in _ANYWHERE.findall(text)} if "@" in text else set()


def _mention(written: str, line: int, at: int) -> Mention:
    return Mention(_spellings(written), Span(line + 1, at + 1, line + 1, at + 2 + len(written)))


def _spellings(written: str) -> tuple[str, ...]:
    path = written.replace("\\ ", " ")
    shorter = path.rstrip(_TRAILING)
    return (path, shorter) if shorter and shorter != path else (path,)


def _parsed(text: str) -> tuple[str, tuple[Mention, ...]]:
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
                yield _mention(written, line, at)
            glued = bool(child.content) and not child.content[-1].isspace()
        else:
            glued = child.type == "code_inline" or (glued and child.nesting != 1)
