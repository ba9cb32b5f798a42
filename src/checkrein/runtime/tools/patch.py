"""The difference between two texts as hunks, in the documented shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_CONTEXT = 3
_COMPARABLE = 4_000_000

Change = tuple[int, int, int, int]
"""Old lines [a, b) became new lines [c, d)."""


def structured_patch(old: str, new: str) -> list[dict[str, Any]]:
    """Hunks with three lines around each change. The lines have no line endings."""
    before, after = _lines(old), _lines(new)
    hunks: list[dict[str, Any]] = []
    for group in _groups(list(_changes(before, after))):
        hunks.append(_hunk(before, after, group))
    return hunks


def counted(old: str, new: str) -> tuple[int, int]:
    """How many lines the new text has more, and how many it lost."""
    changes = list(_changes(_lines(old), _lines(new)))
    return sum(d - c for _, _, c, d in changes), sum(b - a for a, b, _, _ in changes)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _changes(before: list[str], after: list[str]) -> Iterator[Change]:
    start = 0
    shortest = min(len(before), len(after))
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if not old and not new:
        return
    if not old or not new or len(old) * len(new) > _COMPARABLE:
        yield start, start + len(old), start, start + len(new)
        return
    from difflib import SequenceMatcher

    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield start + a, start + b, start + c, start + d


def _groups(changes: list[Change]) -> Iterator[list[Change]]:
    """Changes whose surrounding lines touch belong to one hunk."""
    group: list[Change] = []
    for change in changes:
        if group and change[0] - group[-1][1] > 2 * _CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _bare(line: str) -> str:
    return line.removesuffix("\r")


def _hunk(before: list[str], after: list[str], group: list[Change]) -> dict[str, Any]:
    lead = min(_CONTEXT, group[0][0])
    old_start, new_start = group[0][0] - lead, group[0][2] - lead
    trail = min(_CONTEXT, len(before) - group[-1][1])
    old_end, new_end = group[-1][1] + trail, group[-1][3] + trail
    lines: list[str] = []
    at = old_start
    for a, b, c, d in group:
        lines += [f" {_bare(line)}" for line in before[at:a]]
        lines += [f"-{_bare(line)}" for line in before[a:b]]
        lines += [f"+{_bare(line)}" for line in after[c:d]]
        at = b
    lines += [f" {_bare(line)}" for line in before[at:old_end]]
    return {
        "oldStart": old_start + 1 if old_end > old_start else old_start,
        "oldLines": old_end - old_start,
        "newStart": new_start + 1 if new_end > new_start else new_start,
        "newLines": new_end - new_start,
        "lines": lines,
    }
