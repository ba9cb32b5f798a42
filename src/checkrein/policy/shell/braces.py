"""Brace expansion of a word whose characters are marked as in `words`: `u` means as written."""

from __future__ import annotations

from itertools import pairwise

from checkrein.base.later import later
from checkrein.policy.abstract import ANY

Marked = tuple[str, str]
"""Text and its marks, of equal length."""

LIMIT = 64
_RANGE = later(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")


def has_braces(word: Marked) -> bool:
    text, marks = word
    at = text.find("{")
    return at >= 0 and "u" in marks and "}" in text[at:]


def expand(word: Marked) -> list[Marked] | None:
    """All resulting words in order; None when there are too many."""
    done: list[Marked] = []
    pending = [word]
    while pending:
        if len(done) + len(pending) > LIMIT:
            return None
        current = pending.pop(0)
        parts = _first(current)
        if parts is None:
            done.append(current)
        else:
            pending = parts + pending
    return done


def _first(word: Marked) -> list[Marked] | None:
    """Expand the first real brace, or return None."""
    text, marks = word
    for start, char in enumerate(text):
        if char != "{" or marks[start] != "u":
            continue
        end, commas = _closing(text, marks, start)
        if end < 0:
            continue
        before, after = (text[:start], marks[:start]), (text[end + 1 :], marks[end + 1 :])
        if commas:
            bounds = [start, *commas, end]
            inner = [(text[left + 1 : right], marks[left + 1 : right]) for left, right in pairwise(bounds)]
        else:
            found = _range(text[start + 1 : end]) if "q" not in marks[start:end] else None
            if found is None:
                continue
            inner = [(one, "q" * len(one)) for one in found]
        return [(before[0] + one[0] + after[0], before[1] + one[1] + after[1]) for one in inner]
    return None


def _closing(text: str, marks: str, start: int) -> tuple[int, list[int]]:
    depth = 0
    commas: list[int] = []
    for at in range(start, len(text)):
        if marks[at] != "u":
            continue
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at, commas
        elif text[at] == "," and depth == 1:
            commas.append(at)
    return -1, []


def _range(text: str) -> list[str] | None:
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    first, last, step = found.group(1), found.group(2), abs(int(found.group(3) or 1)) or 1
    if first.isalpha() != last.isalpha():
        return None
    low, high = (ord(first), ord(last)) if first.isalpha() else (int(first), int(last))
    count = abs(high - low) // step + 1
    if count > LIMIT:
        return [ANY]
    numbers = [low + at * (step if high >= low else -step) for at in range(count)]
    width = max(len(first), len(last)) if first.startswith("0") or last.startswith("0") else 0
    return [chr(number) if first.isalpha() else str(number).zfill(width) for number in numbers]
