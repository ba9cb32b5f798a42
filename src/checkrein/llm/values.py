"""What an endpoint says, as values that hold: a count that is not one does not end a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

_MOST = 10**12


def count(value: object) -> int:
    """A whole number from 0 on. Text counts when it is a number; anything else is 0."""
    if isinstance(value, str):
        value = int(value) if value.isdecimal() and len(value) <= len(str(_MOST)) else 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return max(0, min(int(value), _MOST))


def part(value: object) -> Mapping[str, Any]:
    """An object inside of usage; empty when it is something else."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """An id or a name; empty when it is something else."""
    return value if isinstance(value, str) else ""


def loads(data: bytes | str) -> object:
    """JSON as it comes, with halves of surrogate pairs and bytes that are not UTF-8; None when it is not
    JSON, or nested too deeply to read."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        return None
    except (msgspec.DecodeError, UnicodeError):
        pass
    import json

    try:
        return json.loads(data.decode("utf-8", "replace") if isinstance(data, bytes) else data)
    except (ValueError, RecursionError):
        return None


def depth(value: object, most: int) -> int:
    """How deeply lists and objects are nested; no more than `most` + 1."""
    found, level = 0, [value]
    while found <= most and (level := [one for one in level if isinstance(one, dict | list)]):
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
        found += 1
    return found
