"""The blocks of a Markdown text with their lines and the headings above them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.compile.fences import widened
from checkrein.compile.markdown import tokens

BlockKind = Literal["paragraph", "item", "fence", "table", "quote", "html", "rule", "heading"]

_UNDERLINES = re.compile(r"_+")
_LEAD = re.compile(r"^(?:\s*(?:[-*+]|\d+[.)])\s+|\s*\[[ xX]\]\s*|[^\w<(`\"'$/{\[]+)")


_BOLD_STEP = re.compile(r"^\*\*(?:Step|Phase|Stage)\s+\d{1,4}(?!\d)[^*\n]*\*\*:?\s*$", re.IGNORECASE)
_WORD = re.compile(r"\w")
_MARK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_BROKEN_TABLE = re.compile(r"\s*\|[^\n]+\|[ \t]*\n\s*\|[ \t]*:?-+:?[ \t]*\|[ \t|:-]*\Z")
"""Rows of a table with another number of columns than its line of dashes."""
_FENCES = ("```", "~~~")
BOLD_LEVEL = 7
HEADING = re.compile(r"^\s*#+\s")


class Block(Struct, frozen=True, gc=False):
    """`text` is the source as written; lines count from 1 in the whole file, the end is inclusive.

    Items of one list share `group`; `ordered` items have numbers. `section` is the index of the heading block
    above, -1 for none; `path` holds the headings above, outermost first.
    """

    kind: BlockKind
    start: int
    end: int
    text: str
    path: tuple[str, ...] = ()
    section: int = -1
    group: int = -1
    ordered: bool = False
    language: str = ""
    level: int = 0
    first: bool = False
    """The first text of the document."""
    member: bool = False
    """It is in a section of a counted series; `path` is that of the series."""


def read_blocks(text: str, first_line: int = 1) -> list[Block]:
    """Every block of `text`, in order. Blank lines belong to no block."""
    lines = text.split("\n")
    found: list[Block] = []
    levels: list[int] = []
    path: tuple[str, ...] = ()
    section = -1
    groups = 0
    parsed = tokens(widened(text))
    index = 0

    def add(kind: BlockKind, begin: int, end: int, **more: Any) -> None:
        while end > begin and not lines[end - 1].strip():
            end -= 1
        source = lines[begin] if end - begin == 1 else "\n".join(lines[begin:end])
        found.append(
            Block(kind, first_line + begin, first_line + max(begin, end - 1), source, path, section, **more)
        )

    while index < len(parsed):
        token = parsed[index]
        begin, end = token.map or (0, 0)
        if token.type == "heading_open":
            level = int(token.tag[1])
            levels, path = _above(level, levels, path)
            is_title = level == 1 and section < 0
            section = len(found)
            add("heading", begin, end, level=level)
            if not is_title:
                levels, path = [*levels, level], (*path, plain(parsed[index + 1].content))
            index += 3
            continue
        if token.type in ("ordered_list_open", "bullet_list_open"):
            groups += 1
            closing = index + 1
            while parsed[closing].level != token.level or parsed[closing].nesting != -1:
                if parsed[closing].type == "list_item_open" and parsed[closing].level == token.level + 1:
                    first, last = parsed[closing].map or (0, 0)
                    add("item", first, last, group=groups, ordered=token.type.startswith("ordered"))
                closing += 1
            index = closing + 1
            continue
        if token.type == "paragraph_open" and _BOLD_STEP.match(parsed[index + 1].content):
            levels, path = _above(BOLD_LEVEL, levels, path)
            section = len(found)
            add("heading", begin, end, level=BOLD_LEVEL)
            levels, path = [*levels, BOLD_LEVEL], (*path, plain(parsed[index + 1].content))
            index += 3
            continue
        if token.nesting == 1:
            kind: BlockKind = {"table_open": "table", "blockquote_open": "quote"}.get(  # type: ignore[assignment]  # a closed set
                token.type, "paragraph"
            )
            closing = index + 1
            while parsed[closing].level != token.level or parsed[closing].nesting != -1:
                closing += 1
            if kind == "paragraph" and _BROKEN_TABLE.match("\n".join(lines[begin : begin + 2])):
                kind = "table"
            add(kind, begin, end)
            index = closing + 1
            continue
        if token.type in ("fence", "code_block"):
            add("fence", begin, end, language=(token.info or "").strip().split(" ")[0].lower())
        elif token.type == "html_block":
            add("html", begin, end)
        elif token.type == "hr":
            add("rule", begin, end)
        index += 1
    start = next((n for n, block in enumerate(found) if block.kind in ("paragraph", "item")), None)
    if start is not None and not found[start].path:
        found[start] = replace(found[start], first=True)
    return found


def _above(level: int, levels: list[int], path: tuple[str, ...]) -> tuple[list[int], tuple[str, ...]]:
    """The headings above one of `level`, and their levels."""
    kept = next((n for n, one in enumerate(levels) if one >= level), len(levels))
    return levels[:kept], path[:kept]


@lru_cache(maxsize=2048)
def plain(text: str) -> str:
    """Text without emphasis marks, list marks and leading signs, on one line."""
    bare = text.strip()
    for mark in ("*", "`", "~~"):
        if mark in bare:
            bare = bare.replace(mark, "")
    if "_" in bare:
        bare = _UNDERLINES.sub(_inside, bare)
    lead = None if bare[:1].isalpha() else _LEAD.match(bare)
    return " ".join((bare[lead.end() :] if lead else bare).split())


def _inside(found: re.Match[str]) -> str:
    """Underscores within a name stay; those around it are emphasis."""
    text, start, end = found.string, found.start(), found.end()
    within = start > 0 and _WORD.match(text, start - 1) and _WORD.match(text, end)
    return found[0] if within else ""


def first_line_of(block: Block) -> str:
    return plain(_item_head(block.text))


def _item_head(text: str) -> str:
    first, _, rest = text.partition("\n")
    if first.strip():
        return first
    return next((line for line in rest.split("\n") if line.strip()), "")


def inner(block: Block) -> str:
    """The content of a fence or an item, without the fence or the list mark."""
    if block.kind == "fence":
        return _fenced(block.text)
    if block.kind != "item":
        return block.text.strip()
    first, more, rest = block.text.partition("\n")
    mark = _MARK.match(first)
    head = first[mark.end() :] if mark else first
    if not more:
        return head.strip()
    import textwrap

    return f"{head}\n{textwrap.dedent(rest)}".strip()


def _fenced(text: str) -> str:
    first, more, rest = text.partition("\n")
    if not first.lstrip().startswith(_FENCES):
        return text.strip()
    inside, _, last = rest.rpartition("\n")
    return inside if more and last.strip().startswith(_FENCES) else rest
