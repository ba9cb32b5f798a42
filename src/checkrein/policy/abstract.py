"""Text that is only partly known.

In the words of the shell analysis some characters stand for text that is unknown until the command runs. They
are private-use characters, so a known word stays a plain string:

    ANY   any text at all, blanks, slashes and nothing included (a variable, a substitution)
    STAR  what `*` of a glob matches: any characters of one path segment
    ONE   what `?` or `[...]` of a glob matches: one character of one path segment
"""

from __future__ import annotations

import re
from collections.abc import Sequence

ANY = "\ue000"
STAR = "\ue001"
ONE = "\ue002"

_UNKNOWN = re.compile(f"[{ANY}{STAR}{ONE}]")
_GLOB = re.compile(f"[{STAR}{ONE}]")
SENTINELS = re.compile("[\ue000-\ue00f]")

_SHOWN = {ord(ANY): "…", ord(STAR): "*", ord(ONE): "?"}


def is_static(text: str) -> bool:
    return _UNKNOWN.search(text) is None


def is_glob(text: str) -> bool:
    return ANY not in text and _GLOB.search(text) is not None


def shown(text: str) -> str:
    """The text for people, with `…` for each unknown part."""
    return text.translate(_SHOWN)


Tokens = Sequence[str]
"""A pattern: literal characters, and STAR for any run of characters."""


def may_match(pattern: Tokens, text: str) -> bool:
    """Whether the pattern matches some concrete text that `text` stands for.

    One pass over the text with the set of reachable pattern positions; STAR and ANY in the text count alike,
    because a matched file name may hold blanks and slashes.
    """
    end = len(pattern)
    positions = _stars(pattern, {0})
    for char in text:
        if not positions:
            return False
        if char in (ANY, STAR):
            positions = set(range(min(positions), end + 1))
            continue
        following = set()
        for at in positions:
            if at < end:
                token = pattern[at]
                if token == STAR:
                    following.add(at)
                elif token == char or char == ONE:
                    following.add(at + 1)
        positions = _stars(pattern, following)
    return end in positions


def _stars(pattern: Tokens, positions: set[int]) -> set[int]:
    """Add the positions reached when stars match nothing."""
    for at in tuple(positions):
        while at < len(pattern) and pattern[at] == STAR:
            at += 1
            positions.add(at)
    return positions
