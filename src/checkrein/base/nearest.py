"""The nearest known name, for messages that suggest what the user meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    from difflib import get_close_matches

    folded = {candidate.lower(): candidate for candidate in known}
    found = get_close_matches(name.lower(), folded, n=1, cutoff=cutoff)
    return folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean X?` with a leading blank, or nothing."""
    candidate = nearest(name, known)
    return f" Did you mean {candidate!r}?" if candidate else ""
