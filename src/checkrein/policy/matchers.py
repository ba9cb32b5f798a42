"""The matcher of a hook: a list of names, or a regular expression.

Checks and sessions read it in the same way.
"""

from __future__ import annotations

import re
from functools import lru_cache

from checkrein.facts.claude_hooks import HOOK_EVENTS, NARROW_MATCHERS
from checkrein.facts.tools import SHELL_TOOLS

_EXACT = re.compile(r"[A-Za-z0-9_\- ,|]*")
_NARROW = re.compile(r"[A-Za-z0-9_|]*")
_NAMED_GROUP = re.compile(r"\(\?<(?![=!])")


def names(matcher: str, event: str) -> list[str] | None:
    """The names that a matcher lists; None where its characters make it a regular expression."""
    narrow = event in NARROW_MATCHERS
    if not (_NARROW if narrow else _EXACT).fullmatch(matcher):
        return None
    return [part for name in re.split(r"\|" if narrow else r"[|,]", matcher) if (part := name.strip())]


@lru_cache(maxsize=256)
def expression(matcher: str) -> re.Pattern[str] | str:
    """The pattern, or what is wrong with it. The syntax is JavaScript's: `(?<name>`, ASCII classes."""
    try:
        return re.compile(_NAMED_GROUP.sub("(?P<", matcher), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)


def matches(matcher: str | None, event: str, value: str | None) -> bool:
    """Whether a matcher selects `value`. A broken pattern selects nothing (`problem` says why). A hook that
    guards Bash guards every tool that runs commands as Bash does."""
    if value is None or matcher in (None, "", "*"):
        return True
    assert matcher is not None
    if event == "PreToolUse" and value in SHELL_TOOLS:
        return any(_selects(matcher, event, one) for one in dict.fromkeys((value, SHELL_TOOLS[0])))
    return _selects(matcher, event, value)


def _selects(matcher: str, event: str, value: str) -> bool:
    listed = names(matcher, event)
    if listed is not None:
        return value in listed
    pattern = expression(matcher)
    return not isinstance(pattern, str) and pattern.search(value) is not None


def problem(matcher: str | None, event: str) -> str | None:
    """Why a matcher can never select anything, or None."""
    known = HOOK_EVENTS.get(event)
    if not matcher or matcher == "*" or (known is not None and known.matcher is None):
        return None
    if names(matcher, event) is not None:
        return None
    pattern = expression(matcher)
    return pattern if isinstance(pattern, str) else None
