"""Find the commands, skills and tools that a prompt mentions. It counts words and uses no model: the same
prompt and the same project always give the same answer, and every point has a reason."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.protocol.machine.inventory import Entry

NAMED, NAME_WORD, DESCRIBED = 10, 3, 1
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ORDER = {"command": 0, "skill": 1, "tool": 2}
_FILLERS = (
    "a an and are as at be but by can do for from has have how i if in into is it its me my not of on or so "
    "that the their them then there these this to use used using was we what when where which who will with "
    "you your"
)
_STOP = frozenset(_FILLERS.split())


class Match(Struct, frozen=True, kw_only=True):
    """`score` adds up from `reasons`: 10 for the whole name, 3 for a word of it, 1 for a word of its text."""

    kind: str
    name: str
    score: int
    source_hint: str
    reasons: tuple[str, ...]


class Routed(Struct, frozen=True, kw_only=True):
    prompt: str
    limit: int
    match_count: int
    matches: tuple[Match, ...]


def route(prompt: str, entries: Iterable[Entry], limit: int = 5) -> Routed:
    """Best first; equal scores by kind (command, skill, tool), then by name."""
    if limit < 0:
        raise UsageError(
            f"--limit is {limit}, but it must not be negative.", kind="invalid_flag_value"
        ).during("parse", "--limit")
    said, folded = _words(prompt), prompt.casefold()
    found = sorted(
        (match for entry in entries if (match := _match(folded, said, entry)) is not None),
        key=lambda match: (-match.score, _ORDER[match.kind], match.name),
    )[:limit]
    return Routed(prompt=prompt, limit=limit, match_count=len(found), matches=tuple(found))


def _match(folded: str, said: dict[str, None], entry: Entry) -> Match | None:
    reasons: list[tuple[int, str]] = []
    if _names(folded, entry.name.casefold()):
        reasons.append((NAMED, f"the prompt names {entry.name}"))
    own = _words(_CAMEL.sub(" ", entry.name))
    text = _words(f"{entry.responsibility} {entry.words}")
    for word in said:
        if word in own:
            reasons.append((NAME_WORD, f"{word!r} is in the name"))
        elif word in text:
            reasons.append((DESCRIBED, f"{word!r} is in the description"))
    if not reasons:
        return None
    return Match(
        kind=entry.kind,
        name=entry.name,
        score=sum(points for points, _ in reasons),
        source_hint=entry.source_hint,
        reasons=tuple(f"+{points} {why}" for points, why in reasons),
    )


def _names(folded: str, name: str) -> bool:
    return name in folded and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", folded) is not None


def _words(text: str) -> dict[str, None]:
    """The words that count, each once, in order: at least two letters, no filler words, singular."""
    found = (match.casefold() for match in _WORD.findall(text))
    return dict.fromkeys(_stem(word) for word in found if len(word) > 1 and word not in _STOP)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
