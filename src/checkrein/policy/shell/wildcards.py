"""The last step from marked text to a word: globs."""

from __future__ import annotations

import re

from checkrein.policy.abstract import ANY, ONE, STAR
from checkrein.policy.shell.braces import Marked

_BRACKETS = re.compile(r"\[[!^]?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]])*\]")
"""A set of characters: `[a-z]`, `[!x]`, `[]x]`, `[[:alpha:]_]`."""
EMPTY = "\ue006"
"""Marks empty quotes, which still make a field."""


def globbed(word: Marked, *, known: bool) -> str:
    """Unquoted glob characters become unknown text, marks go. `known`: globs have their default meaning."""
    text, marks = word
    if not any(char in text for char in "*?["):
        return text.replace(EMPTY, "")
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if marks[at] == "q" or char not in "*?[":
            out.append(char)
        elif char == "[":
            found = _BRACKETS.match(text, at) if "]" in text[at:] else None
            if found is None:
                out.append(char)
            else:
                out.append(ONE if known else ANY)
                at = found.end() - 1
        else:
            out.append(ANY if not known else STAR if char == "*" else ONE)
        at += 1
    return "".join(out).replace(EMPTY, "")
