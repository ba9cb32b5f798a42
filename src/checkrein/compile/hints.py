"""The arguments that an `argument-hint` shows: `<path> [--depth quick]` gives `path` and `depth`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLOSING = {"[": "]", "<": ">", "{": "}"}
_FLAG = re.compile(r"(?<![\w-])--?([A-Za-z][\w-]*)")
_NAME = re.compile(r"\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b")
_ASIDE = re.compile(r"\([^()]*\)")
_EXAMPLE = re.compile(r"\be\.g\.|\bfor example\b", re.IGNORECASE)
_DASH = re.compile(r"\s[—–]\s")
_LETTER = re.compile(r"[^\W\d_]")
_BRIEF = 3
"""Up to this many words may be a name, or names; more are a sentence."""
_PAIR = 2
"""The most alternatives that a name can have."""
_AROUND = " .,:;"
_ANYTHING = "argument"
_CHOICE = "choice"


def read_hint(hint: str) -> list[tuple[str, str]]:
    """(name as written, what the hint shows of it), in order. A hint without a name gives `argument`."""
    usage = _DASH.split(hint, 1)[0]
    found = _usage(usage) if _FLAG.search(usage) or any(sign in usage for sign in _CLOSING) else _prose(usage)
    if len(found) == 1:
        found = [(found[0][0], hint)]
    return found or [(_ANYTHING, hint)]


def _usage(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    open_flag = False  # a flag outside brackets, whose value may follow
    parts = list(_parts(_ASIDE.sub(" ", text)))
    sentence = sum(_LETTER.match(part) is not None for part in parts) > _BRIEF
    for part in parts:
        flag = _FLAG.match(part)
        if flag:
            found.append((flag[1], part))
        elif part[0] in _CLOSING:
            inner = part[1:].removesuffix(_CLOSING[part[0]])
            if not open_flag or part[0] == "[":
                found += [(name, part) for name in _group(inner)]
        elif not open_flag and not sentence and _LETTER.match(part):
            found.append((part.strip(_AROUND), part))
        open_flag = flag is not None
    return found


def _parts(text: str) -> Iterator[str]:
    """Groups in brackets, with what is in them, and the words between."""
    start = 0
    closing: list[str] = []
    for at, sign in enumerate(text):
        if sign in _CLOSING:
            if not closing:
                yield from text[start:at].split()
                start = at
            closing.append(_CLOSING[sign])
        elif closing and sign == closing[-1]:
            closing.pop()
            if not closing:
                yield text[start : at + 1]
                start = at + 1
    if closing:
        yield text[start:]
    else:
        yield from text[start:].split()


def _group(text: str) -> list[str]:
    """Every flag of a group; else the one name that covers its alternatives."""
    ways = [way.strip(_AROUND) for way in _EXAMPLE.split(text, 1)[0].split("|")]
    flags = [flag[1] for way in ways if (flag := _FLAG.match(way))]
    first = next((at for at, way in enumerate(ways) if _FLAG.match(way)), len(ways))
    return [*_alternatives([way for way in ways[:first] if _LETTER.search(way)]), *flags]


def _alternatives(ways: list[str]) -> list[str]:
    if not ways:
        return []
    if all(way.startswith(ways[0]) for way in ways):
        return [ways[0]]
    return [" or ".join(ways)] if len(ways) <= _PAIR else [_CHOICE]


def _prose(text: str) -> list[tuple[str, str]]:
    """A sentence asks for names with an underscore; a few words are a name themselves."""
    plain = _EXAMPLE.split(_ASIDE.sub(" ", text), 1)[0]
    named = list(dict.fromkeys(_NAME.findall(plain)))
    if named:
        return [(name, text) for name in named]
    if "|" in plain:
        return [(name, text) for name in _group(plain)]
    brief = plain.strip(_AROUND)
    return [(brief, text)] if brief and len(brief.split()) <= _BRIEF and _LETTER.search(brief) else []
