"""The regular expressions of contracts. Nothing raises on a bad one."""

from __future__ import annotations

import re


def is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern that is one is found in a text."""
    return re.search(pattern, text) is not None
