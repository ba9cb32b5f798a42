"""Types that a word or two names, as tables, samples and type systems write them."""

from __future__ import annotations

import re

from checkrein.compile.shapes.tree import (
    ANY,
    NOTHING,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    ListOf,
    MapOf,
    Shape,
    choice,
    either,
)

_NAMES: dict[str, Shape] = {
    **dict.fromkeys(
        ("string", "str", "text", "markdown", "char", "date", "datetime", "date-time", "time", "timestamp"),
        TEXT,
    ),
    **dict.fromkeys(
        ("iso date", "iso 8601", "uuid", "guid", "url", "uri", "email", "path", "duration"), TEXT
    ),
    **dict.fromkeys(("integer", "int", "int32", "int64"), WHOLE),
    **dict.fromkeys(("number", "float", "double", "decimal", "percentage", "numeric"), NUMBER),
    **dict.fromkeys(("boolean", "bool"), TRUTH),
    **dict.fromkeys(("null", "none", "undefined", "nil"), NOTHING),
    **dict.fromkeys(("any", "unknown"), ANY),
    **dict.fromkeys(("object", "map", "dict", "dictionary", "json", "json object"), MapOf(ANY)),
    **dict.fromkeys(("array", "list"), ListOf(ANY)),
}
_CLEAR = frozenset({"string", "str", "integer", "int", "number", "float", "boolean", "bool", "null"})
"""Words that mean a type even where a sample has a value."""
_PLURAL = re.compile(r"^(?:array|list)s? of (.+)$")
_GENERIC = re.compile(r"^(?:array|list)\s*[<\[(]\s*(.+?)\s*[>\])]$")
_ENUM = re.compile(r"^(?:string )?enum\s*[:(\[]?\s*(.+?)[)\]]?$", re.IGNORECASE)
_WORD = re.compile(r"^[\w.+-]{1,40}$")


def named(text: str, *, sample: bool = False) -> Shape | None:
    """The type that a word names; None when it does not name one. In a sample, which has values, only words
    count that are hardly ever a value."""
    word = " ".join(text.strip().lower().split())
    known = _NAMES.get(word)
    if known is not None:
        return known if not sample or word in _CLEAR else None
    if word.endswith("[]"):
        return _list(word[:-2], sample)
    inside = _PLURAL.match(word) or _GENERIC.match(word)
    return _list(inside[1], sample) if inside is not None else None


def _list(word: str, sample: bool) -> Shape | None:
    item = named(word, sample=sample) or named(word.removesuffix("s"), sample=sample)
    return ListOf(item) if item is not None else None


def alternatives(text: str, *, sample: bool = False) -> Shape | None:
    """`low|high`, `string | null`, `"a" | "b"`: words with a bar between them, each a type or a value."""
    parts = [part.strip() for part in text.split("|")]
    if len(parts) < 2:
        return None
    found: list[Shape] = []
    for part in parts:
        known = named(part, sample=sample)
        bare = part.strip("\"'`")
        if known is not None and bare == part:
            found.append(known)
        elif part in ("true", "false"):
            found.append(TRUTH)
        elif _WORD.match(bare):
            found.append(choice([bare]))
        else:
            return None
    return either(found)


def enumerated(text: str) -> Shape | None:
    """`enum: a, b` or `enum (a / b)`."""
    found = _ENUM.match(text.strip())
    if found is None:
        return None
    values = [part.strip(" \"'`") for part in re.split(r"[,/|]|\bor\b", found[1])]
    return choice(values) if len(values) > 1 and all(_WORD.match(one) for one in values) else None
