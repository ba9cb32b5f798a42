"""The regular expressions of contracts. Nothing raises on a bad one."""

from __future__ import annotations

import re

_NESTED = re.compile(r"[+*}]\)?\)[+*{]")
_LOOKED_AT = 10_000


def is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern that is one is found in a text. A repetition of repetitions may take for ever, and
    is not tried: it counts as found."""
    return _NESTED.search(pattern) is not None or re.search(pattern, text[:_LOOKED_AT]) is not None
