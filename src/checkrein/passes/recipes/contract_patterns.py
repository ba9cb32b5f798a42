"""The regular expressions of contracts. Nothing raises on a bad one."""

from __future__ import annotations


def is_pattern(text: str) -> bool:
    import regex

    try:
        regex.compile(text)
    except (regex.error, RecursionError, OverflowError):
        return False
    return True
