"""Tables of words are written as plain text, one blank between words."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def names(text: str) -> tuple[str, ...]:
    return tuple(text.split())
