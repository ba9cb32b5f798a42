"""Checks that plain code can make of an answer, taken from the words of a rule."""

from __future__ import annotations

import re

from msgspec import Struct

from bridle.facts.compile_words import JUDGED

_LIMIT = re.compile(
    r"\b(?:under|at most|no more than|max(?:imum)?(?: of)?|fewer than|less than|up to|within"
    r"|keep [^.\n]{0,40}? to|not exceed|no longer than)\s+(\d{1,6})\s+(words?|characters?|chars?|lines?)\b",
    re.IGNORECASE,
)
_JSON = re.compile(
    r"\b(?:output|respond|return|reply|answer)\b[^.\n]{0,40}\b(?:valid|only|raw|pure)\s+JSON\b", re.IGNORECASE
)
_NO_EMOJI = re.compile(
    r"\b(?:no|never use|do not use|don['’]t use|without|avoid)\s+(?:any\s+)?emojis?\b", re.IGNORECASE
)
_QUOTED = r"(?:`([^`\n]{2,80})`|[\"“]([^\"”\n]{2,80})[\"”])"
_CONTAINS = re.compile(
    r"\b(?:output|response|answer|report|reply|summary|message)\b[^.\n]{0,40}\bmust\s+(?:include|contain|have)\s+(?:the\s+\w+\s+)?"
    + _QUOTED,
    re.IGNORECASE,
)
_STARTS = re.compile(
    r"\b(?:output|response|answer|report|reply|message)\b[^.\n]{0,40}\bmust\s+(?:start|begin)\s+with\s+"
    + _QUOTED,
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:never|do not|don['’]t|must not)\s+(?:use|include|write|say|output|add|mention)\s+(?:the\s+\w+\s+)?"
    + _QUOTED,
    re.IGNORECASE,
)


class Check(Struct, frozen=True):
    """A function of the package's requirements module and its argument."""

    function: str
    argument: str | int | None = None


def executable_check(text: str) -> Check | None:
    """The check a rule asks for; None when only a reader could judge it."""
    if JUDGED.search(text):
        return None
    limit = _LIMIT.search(text)
    if limit is not None:
        unit = limit[2].lower()
        kind = "words" if unit.startswith("word") else "lines" if unit.startswith("line") else "characters"
        return Check(f"at_most_{kind}", int(limit[1]))
    if _JSON.search(text):
        return Check("is_json")
    if _NO_EMOJI.search(text):
        return Check("has_no_emoji")
    for pattern, function in ((_STARTS, "starts_with"), (_CONTAINS, "contains"), (_FORBIDS, "lacks")):
        match = pattern.search(text)
        if match is not None:
            return Check(function, match[1] or match[2])
    return None
