"""Hook matchers: exact names or a regular expression, and which of them can match."""

from __future__ import annotations

import re

_EXACT = re.compile(r"[\w\- ,|]*", re.ASCII)
_NARROW = re.compile(r"[\w|]*", re.ASCII)
_NARROW_EVENTS = ("FileChanged", "StopFailure")


def is_exact(matcher: str, event: str) -> bool:
    """True where a matcher is a list of names; any other character makes it a regular expression."""
    return (_NARROW if event in _NARROW_EVENTS else _EXACT).fullmatch(matcher) is not None


def parts_of(matcher: str) -> list[str]:
    """The names of an exact matcher."""
    return [part for name in re.split(r"[|,]", matcher) if (part := name.strip())]


def compile_regex(matcher: str) -> re.Pattern[str] | str:
    """The expression, or why it is none. Syntax that only JavaScript has is rewritten first."""
    try:
        return re.compile(matcher.replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!"))
    except re.error as error:
        return str(error)
