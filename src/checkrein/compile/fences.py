"""Fences inside fences: a template that shows code has fences of its own, with the same marks.

CommonMark ends the outer fence at the first bare mark, and everything after it is inside out. A mark with a
language inside a fence of text opens an inner one here, if that leaves none open at the end.
"""

from __future__ import annotations

import re

_MARK = re.compile(r"^(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_SHOWS_TEXT = frozenset({"", "markdown", "md", "text", "txt", "plaintext", "prompt", "mdx", "html", "xml"})


def widened(text: str) -> str:
    """The text with longer marks around fences that hold others; the lines stay where they are."""
    lines = text.split("\n")
    marks = [(at, found) for at, line in enumerate(lines) if (found := _MARK.match(line)) is not None]
    if len(marks) < 3:
        return text
    open_marks: list[tuple[int, re.Match[str], int]] = []
    pairs: list[tuple[int, int, int]] = []
    for at, found in marks:
        inside = open_marks[-1][1] if open_marks else None
        info = found["info"].strip()
        if inside is None:
            open_marks.append((at, found, 0))
        elif found["mark"][0] != inside["mark"][0] or len(found["mark"]) < len(inside["mark"]):
            continue
        elif not info:
            start, _, depth = open_marks.pop()
            if depth:
                pairs.append((start, at, depth))
            if open_marks:
                first, opening, deepest = open_marks[-1]
                open_marks[-1] = (first, opening, max(deepest, depth + 1))
        elif inside["info"].strip().split(" ")[0].lower() in _SHOWS_TEXT | {"diff"}:
            open_marks.append((at, found, 0))
    if open_marks or not pairs:
        return text
    for start, end, depth in pairs:
        for at in (start, end):
            found = _MARK.match(lines[at])
            assert found is not None
            mark = found["mark"][0] * (len(found["mark"]) + depth)
            lines[at] = f"{found['indent']}{mark}{found['info']}"
    return "\n".join(lines)
