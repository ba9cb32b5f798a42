"""Where secrets are in a text: known shapes, private keys, and values beside names such as `api_key`.

A span never crosses a line break, so a text has as many lines after masking as before. Values that many
harmless texts hold are not secrets here: hashes, UUIDs, paths, references to variables, placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from types import ModuleType

from msgspec import Struct

from checkrein.base.secret_shapes import SHAPES

MASK = re.compile(r"«secret:[a-z-]{1,24}:([0-9a-f]{10})»")
"""What stands in the place of a secret. Its group says which one it is."""
_MASKED = "«secret:"
KEY_REACH = 16_384
"""The longest private key that counts, in characters."""
_WORDS = ("token", "secret", "passw", "passphrase", "pwd", "credential", "auth", "cookie")
_KEYS = r"""key(?=[\w-]{0,20}(?:\\*["'])?\]?[ \t]{0,8}[:=>\t ])"""
_KEY_NAME = r"(?:api|access|private|account|encryption|signing|master)[_-]?$"
_KEY_END = "-----END "
_ASCII = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class Span(Struct, frozen=True, order=True):
    """`kind` is a short word for people: `aws-key`, `password`."""

    start: int
    end: int
    kind: str


def spans(text: str) -> list[Span]:
    """The secrets of a text, in order; they do not overlap."""
    found = [*_shaped(text), *_assigned(text)]
    if found and _MASKED in text:
        masks = [match.span() for match in MASK.finditer(text)]
        found = [one for one in found if not any(start < one.end and one.start < end for start, end in masks)]
    if len(found) < 2:
        return found
    found.sort(key=lambda one: (one.start, -one.end))
    kept = [found[0]]
    for one in found[1:]:
        if one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _shaped(text: str) -> Iterator[Span]:
    key_end = -1
    for shape in SHAPES:
        if shape.kind == "password" and "@" not in text:
            continue
        for mark in shape.marks:
            at = text.find(mark)
            while at >= 0:
                after = at + 1
                match = _compiled(shape.pattern).match(text, max(0, at + shape.offset))
                if match is not None:
                    after = max(match.end(), after)
                    if shape.kind == "private-key":
                        if key_end < match.end():
                            key_end = text.find(_KEY_END, match.end())
                            key_end = len(text) + KEY_REACH if key_end < 0 else key_end
                        lines = values().key_lines(text, match.end(), key_end, KEY_REACH)
                        yield from (Span(start, end, shape.kind) for start, end in lines)
                    elif values().is_likely(match[match.lastindex or 0], shape.kind):
                        yield Span(*match.span(match.lastindex or 0), shape.kind)
                at = text.find(mark, after)


def is_secret_field(name: str, value: str) -> bool:
    """Whether a value of its own, with this name, is a secret: a field of structured output."""
    small = name.lower()
    if "key" not in small and not any(word in small for word in _WORDS):
        return False
    found: bool = values().is_secret_value(name, value)
    return found


@cache
def values() -> ModuleType:
    """The judgement about values. Its patterns cost more than a start, so the first mark loads them."""
    from checkrein.base import secret_values

    return secret_values


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _assigned(text: str) -> Iterator[Span]:
    small = text.lower()
    if len(small) != len(text):
        small = text.translate(_ASCII)
    for at, after in _names(small):
        found = values().value_at(text, at, after)
        if found is not None:
            yield Span(*found)


def _names(small: str) -> Iterator[tuple[int, int]]:
    """Where a word of a secret's name starts and ends."""
    for word in _WORDS:
        at = small.find(word)
        while at >= 0:
            yield at, at + len(word)
            at = small.find(word, at + len(word))
    if "key" in small:
        for match in _compiled(_KEYS).finditer(small):
            if _compiled(_KEY_NAME).search(small, max(0, match.start() - 12), match.start()):
                yield match.span()
