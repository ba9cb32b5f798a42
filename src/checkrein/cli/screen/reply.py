"""A reply while it arrives: what is finished goes up into the scrollback, the rest is drawn below.

A block of Markdown is finished when the next one begins. Long code and long paragraphs go up in parts, so
that the part that is drawn again and again stays small, however long the reply is.
"""

from __future__ import annotations

import re

from msgspec import Struct

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([^\s`]*)")
_HEADING = re.compile(r"#{1,6}\s")
_CODE_LINES = 40
_LONGEST = 4_000


class Block(Struct, frozen=True):
    """Markdown, or code of a `language` without its fences. `goes_on`: code that follows other code."""

    text: str
    language: str | None = None
    goes_on: bool = False


class Reply:
    """Takes a text piece by piece. `taken` gives the finished blocks once, `rest` what is not finished."""

    def __init__(self) -> None:
        self._done: list[Block] = []
        self._lines: list[str] = []
        self._size = 0
        self._line = ""
        self._fence: str | None = None
        self._language = ""
        self._began = False

    def add(self, text: str) -> None:
        *whole, last = (self._line + text).split("\n")
        for line in whole:
            self._take(line)
        self._line = last
        if self._fence is None and len(last) > _LONGEST:
            at = last.rfind(" ", 0, _LONGEST)
            at = at if at > 0 else _LONGEST
            self._lines.append(last[:at])
            self._line = last[at:].lstrip(" ")
            self._close()

    def end(self) -> None:
        """Nothing more comes."""
        if self._line:
            self._take(self._line)
            self._line = ""
        if self._fence is not None:
            self._close_code()
        self._close()

    def taken(self) -> list[Block]:
        done, self._done = self._done, []
        return done

    @property
    def rest(self) -> Block | None:
        if self._fence is not None:
            return Block("\n".join((*self._lines, self._line)), self._language, self._began)
        text = "\n".join((*self._lines, self._line)).strip("\n")
        return Block(text) if text else None

    def _take(self, line: str) -> None:
        found = _FENCE.match(line)
        if self._fence is not None:
            if found and found[1].startswith(self._fence) and not found[2]:
                self._close_code()
                return
            self._add(line)
            if len(self._lines) >= _CODE_LINES or self._size > _LONGEST:
                self._put(Block("\n".join(self._lines), self._language, self._began))
                self._began = True
        elif found:
            self._close()
            self._fence, self._language = found[1], found[2]
        elif not line.strip():
            self._close()
        elif _HEADING.match(line):
            self._close()
            self._add(line)
            self._close()
        else:
            self._add(line)
            if self._size > _LONGEST:
                self._close()

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line)

    def _close(self) -> None:
        if self._lines:
            self._put(Block("\n".join(self._lines)))

    def _close_code(self) -> None:
        if self._lines or not self._began:
            self._put(Block("\n".join(self._lines), self._language, self._began))
        self._fence, self._began = None, False

    def _put(self, block: Block) -> None:
        self._done.append(block)
        self._lines, self._size = [], 0
