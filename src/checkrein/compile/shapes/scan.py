"""Splits a text into tokens with one pattern: its named groups are kinds, `end` is the last."""

from __future__ import annotations

import re

from checkrein.compile.shapes.tree import UnfitError

Token = tuple[str, str]


def scan(pattern: re.Pattern[str], text: str) -> list[Token]:
    """The tokens, without matches outside a named group, such as comments. Raises UnfitError."""
    found: list[Token] = []
    at = 0
    while True:
        match = pattern.match(text, at)
        if match is None:
            raise UnfitError
        at = match.end()
        if match.lastgroup is not None:
            found.append((match.lastgroup, match[match.lastgroup]))
            if match.lastgroup == "end":
                return found
