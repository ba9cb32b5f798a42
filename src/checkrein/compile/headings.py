"""The role of the nearest heading above a block that has one."""

from __future__ import annotations

import re
from functools import lru_cache

from checkrein.facts.compile_headings import (
    CLOSING,
    FIRST,
    LISTS,
    LONGEST_NOUN,
    MARKS,
    NOUNS,
    OVERRIDING,
    QUALIFIES,
    STRESSED,
    TAIL,
    Mark,
    Role,
)

NEAR = 2
_WORD = re.compile(r"[\w'’]+")


@lru_cache(maxsize=2048)
def role_of(title: str) -> Role | None:
    """The role of one heading, by its noun: the last word before a preposition."""
    first = FIRST.search(title)
    if first is not None:
        return "input" if (first[1] or first[2] or "").lower() == "input" else "output"
    for role, pattern in OVERRIDING:
        if pattern.search(title):
            return role
    if QUALIFIES.match(title):
        return None
    if LISTS.match(title):
        return "concept"
    noun = TAIL.sub("", title)
    for text in dict.fromkeys((CLOSING.sub("", noun), noun, title)):
        found = _noun(text)
        if found is not None:
            return found
    return "rule" if STRESSED.match(title) else None


def _noun(text: str) -> Role | None:
    """The role of the words at the end; the longer of two that end there."""
    bare = text.rstrip(" :.")
    if not bare[-1:].isalnum():
        return None
    listed = ["^", *_WORD.findall(bare.lower().replace("’", "'"))]
    for count in range(min(LONGEST_NOUN, len(listed)), 0, -1):
        ending = listed[-count:]
        role = NOUNS.get(" ".join(ending)) or NOUNS.get(" ".join((*ending[:-1], "*")))
        if role is not None:
            return role
    return None


@lru_cache(maxsize=2048)
def marks_of(title: str) -> frozenset[Mark]:
    return frozenset(mark for mark, pattern in MARKS.items() if pattern.search(title))


def is_marked(path: tuple[str, ...], mark: Mark, near: int = 1) -> bool:
    """Whether one of the nearest headings has a mark."""
    return any(mark in marks_of(title) for title in path[-near:])


def role_under(path: tuple[str, ...]) -> Role | None:
    """The role of the nearest of the last two headings that has one."""
    for title in reversed(path[-NEAR:]):
        role = role_of(title)
        if role is not None:
            return role
    return None


def roles_above(path: tuple[str, ...]) -> frozenset[Role]:
    return frozenset(role for title in path if (role := role_of(title)) is not None)
