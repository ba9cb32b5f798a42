"""Glob patterns of `paths`: which of them can never match, and why."""

from __future__ import annotations

import re

from checkrein.facts.claude_guidance import BRACE_EXPANSIONS

_BRACES = re.compile(r"\{([^{}]*)\}")


def dead_reason(pattern: str) -> str | None:
    """Why a pattern can never match a file; None when it may match."""
    if not pattern.strip():
        return "is empty"
    if _open_bracket(pattern):
        return r"has a `[` without its `]`; write `\[` for the character itself"
    if expansions(pattern) > BRACE_EXPANSIONS:
        return f"expands to more than {BRACE_EXPANSIONS:,} patterns"
    if pattern.startswith(("../", "~/")):
        return "leads out of the project"
    if "\\" in pattern and re.search(r"\\[\w.]", pattern):
        return "is written with backslashes; use `/`"
    return None


def _open_bracket(pattern: str) -> bool:
    inside = False
    escaped = False
    for char in pattern:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "[" and not inside:
            inside = True
        elif char == "]":
            inside = False
    return inside


def expansions(pattern: str) -> int:
    """How many patterns the braces expand to, with nested ones counted from the inside."""
    total = 1
    while (match := _BRACES.search(pattern)) and total <= BRACE_EXPANSIONS:
        total *= match[1].count(",") + 1
        pattern = pattern[: match.start()] + pattern[match.end() :]
    return total


def expand(pattern: str) -> list[str]:
    """The patterns that braces expand to."""
    match = _BRACES.search(pattern)
    if match is None:
        return [pattern]
    head, tail = pattern[: match.start()], pattern[match.end() :]
    return [full for part in match[1].split(",") for full in expand(head + part + tail)]
