"""Sets of values that a text names: `[High/Medium/Low]`, `low | high`, a list below `Severity levels`."""

from __future__ import annotations

import re

from checkrein.compile.blocks import plain
from checkrein.compile.literals import one_line

_VALUE = r"[A-Za-z0-9][\w.+ -]{0,24}?"
_IN_BRACKETS = re.compile(rf"[\[<{{(`\"]\s*({_VALUE}(?:\s*[|/]\s*{_VALUE}){{1,9}})\s*[\]>}})`\"]")
_BARE = re.compile(rf"^\W*({_VALUE}(?:\s+\|\s+{_VALUE}){{1,9}})\W*$")
_SIGNS = re.compile(r"[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f]")
_MOST = 60


def choices_in(text: str) -> tuple[str, ...]:
    """The values of the first set in a line; empty when it has none, or one that is open."""
    bare = _SIGNS.sub("", plain(text))
    found = _IN_BRACKETS.search(bare) or _BARE.match(bare)
    if found is None or re.search(r"\betc\b|\.\.\.|…", bare):
        return ()
    values = tuple(dict.fromkeys(part.strip() for part in re.split(r"[|/]", found[1])))
    short = all(0 < len(value) <= 24 and len(value.split()) <= 3 for value in values)
    fits = len(values) > 1 and short and not any(value.isdigit() for value in values)
    return values if fits and len(literal(values)) <= _MOST else ()


def literal(values: tuple[str, ...]) -> str:
    return f"Literal[{', '.join(map(one_line, values))}]"
