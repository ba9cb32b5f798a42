"""Lists and tables inside a text: their items, with the lines they have, outside fences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from checkrein.compile.blocks import plain
from checkrein.compile.grammar import leading_verb, parts
from checkrein.compile.shapes.tables import RULER, cells
from checkrein.facts import compile_work as words

_ITEM = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(?P<text>\S.*)$")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})")
_MOST = 16


class Table(Struct, frozen=True):
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def outside_fences(text: str) -> Iterator[str]:
    inside = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            yield line


def lists_in(text: str) -> list[list[str]]:
    """The outermost items of every list, each with its continuation lines."""
    found: list[list[str]] = []
    indent: int | None = None
    for line in outside_fences(text):
        item = _ITEM.match(line)
        if item is not None and (indent is None or len(item["indent"]) <= indent):
            if indent is None:
                found.append([])
            indent = len(item["indent"])
            found[-1].append(item["text"])
        elif indent is not None and (line.startswith((" " * (indent + 1), "\t")) or not line.strip()):
            if line.strip():
                found[-1][-1] += f"\n{line.strip()}"
        else:
            indent = None
    return found


def tables_in(text: str) -> list[Table]:
    found: list[Table] = []
    rows: list[tuple[str, ...]] = []
    for line in (*outside_fences(text), ""):
        if line.strip().startswith("|"):
            rows.append(tuple(cell.strip() for cell in cells(line)))
            continue
        if len(rows) > 2 and all(map(RULER.match, rows[1])):
            read = [tuple(map(plain, row)) for row in (rows[0], *rows[2:])]
            found.append(Table(read[0], tuple(read[1:])))
        rows = []
    return found


def keyed(items: list[str]) -> list[tuple[str, str]]:
    """(key, rest) of every item; empty when one has no key, or when a key is an instruction."""
    found: list[tuple[str, str]] = []
    for item in items:
        line = parts(item.split("\n", 1)[0])
        if not line.key or len(line.key.split()) > 5 or leading_verb(line.key) is not None:
            return []
        found.append((line.key, line.rest))
    return found if 1 < len(found) <= _MOST else []


def boxes_in(text: str) -> list[str]:
    """The lines to tick off."""
    return [plain(found["text"]) for line in text.split("\n") if (found := words.BOX.match(line)) is not None]
