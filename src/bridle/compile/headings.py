"""What a block stands under: the role of the nearest heading that has one."""

from __future__ import annotations

import re
from functools import lru_cache

from bridle.facts.compile_headings import CLOSING, FIRST, LISTS, OVERRIDING, ROLES, STRESSED, TAIL, Role

NEAR = 2
_ENDING = re.compile(
    rf"(?:{'|'.join(f'(?:{pattern.pattern})' for _, pattern in ROLES)})(?=[ :.]*\Z)", re.IGNORECASE
)
"""Whether any of the words stands at the end at all: most titles end in none."""


@lru_cache(maxsize=2048)
def role_of(title: str) -> Role | None:
    """The role of one heading: of its noun, which is the last word before a preposition."""
    first = FIRST.search(title)
    for role, pattern in ROLES:
        if first is None and role in OVERRIDING and pattern.search(title):
            return role
    if first is not None:
        return "input" if (first[1] or first[2] or "").lower() == "input" else "output"
    if LISTS.match(title):
        return "concept"
    noun = TAIL.sub("", title)
    for text in dict.fromkeys((CLOSING.sub("", noun), noun, title)):
        found = _noun(text)
        if found is not None:
            return found
    return "rule" if STRESSED.match(title) else None


def _noun(text: str) -> Role | None:
    """The role of the word at the end; of two that end there, the longer."""
    if _ENDING.search(text) is None:
        return None
    end = len(text.rstrip(" :."))
    ending = [
        (len(found[0]), role)
        for role, pattern in ROLES
        for found in pattern.finditer(text)
        if found.end() == end
    ]
    return max(ending, key=lambda one: one[0])[1] if ending else None


def role_under(path: tuple[str, ...]) -> Role | None:
    """The role of the nearest of the last two headings that has one."""
    for title in reversed(path[-NEAR:]):
        role = role_of(title)
        if role is not None:
            return role
    return None


def roles_above(path: tuple[str, ...]) -> frozenset[Role]:
    return frozenset(role for title in path if (role := role_of(title)) is not None)
