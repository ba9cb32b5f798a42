"""Tables of words as plain text, with one blank between words."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def names(text: str) -> tuple[str, ...]:
    return tuple(text.split())
