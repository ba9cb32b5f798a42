"""The headings of a body: which one is above each line, and how they nest."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from msgspec import Struct

from checkrein.compile.blocks import Block, plain, read_blocks


class Heading(Struct, frozen=True):
    line: int
    level: int
    title: str
    path: tuple[str, ...]


class Outline(Struct, frozen=True):
    """`blocks` are those of the body, with the lines of the file."""

    headings: tuple[Heading, ...]
    starts: tuple[int, ...]
    blocks: tuple[Block, ...]

    def above(self, line: int) -> Heading | None:
        """The nearest heading above a line, or on it."""
        at = bisect_right(self.starts, line)
        return self.headings[at - 1] if at else None

    def chapter(self, line: int, depth: int = 1) -> str:
        """The heading above a line at a depth, or the deepest above that; the document's title is none."""
        found = self.above(line)
        return found.path[:depth][-1] if found is not None and found.path else ""


@lru_cache(maxsize=4)
def read_outline(body: str, first_line: int) -> Outline:
    source = body.replace("\r\n", "\n").replace("\r", " ")
    blocks = tuple(read_blocks(source, first_line))
    headings: list[Heading] = []
    for block in blocks:
        if block.kind == "heading":
            title = plain(block.text.lstrip("# "))
            is_title = block.level == 1 and not headings
            path = block.path if is_title else (*block.path, title)
            headings.append(Heading(block.start, block.level, title, path))
    return Outline(tuple(headings), tuple(one.line for one in headings), blocks)
