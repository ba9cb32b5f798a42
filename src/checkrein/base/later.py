"""Regular expressions that are compiled when they are first used.

A judgement of shell text has about seventy. Most commands need few of them, and all together take a third of
the time in which the first command of a session is judged.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Later:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found


def later(text: str, flags: int = 0) -> re.Pattern[str]:
    """For its methods. A function of `re` does not take it."""
    return cast("re.Pattern[str]", _Later(text, flags))
