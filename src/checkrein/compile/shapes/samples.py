"""Shapes from sample values: what a JSON or YAML document of this kind would look like."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from typing import Any

from checkrein.compile.shapes.tree import (
    ANY,
    MAX_DEPTH,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    ListOf,
    MapOf,
    Member,
    Object,
    Shape,
    UnfitError,
    either,
    merged,
)
from checkrein.compile.shapes.words import alternatives, named

MAX_VALUES = 2000
_BARRED = re.compile(r"^[\w.+-]{1,40}(?: ?\| ?[\w.+-]{1,40})+$")
# Keys whose sample may have a bar, or a word for a type, and still be plain text.
_TEXTS = re.compile(
    r"command|cmd|script|regex|pattern|query|filter|pipeline|type$|kind$|format$|language|schema",
    re.IGNORECASE,
)


class Unknown:
    """A place in a sample to fill in with an unknown value."""


class Sampler:
    """Reads one document. Raises UnfitError when it is too large, or a key is not text."""

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def object(self, value: dict[Any, Any], depth: int = 0) -> Object:
        if not all(isinstance(key, str) and key.strip() for key in value):
            raise UnfitError
        return merged(Member(key, self.shape(member, key, depth + 1)) for key, member in value.items())

    def shape(self, value: Any, key: str, depth: int) -> Shape:
        self.left -= 1
        if self.left < 0:
            raise UnfitError
        if depth > MAX_DEPTH:
            return ANY
        if isinstance(value, bool):
            return TRUTH
        if isinstance(value, int):
            return WHOLE
        if isinstance(value, float):
            return NUMBER
        if isinstance(value, str):
            return _text(value, key)
        if isinstance(value, datetime.date | datetime.time):
            return TEXT
        if isinstance(value, list):
            return ListOf(together([self.shape(one, key, depth + 1) for one in value]))
        if isinstance(value, dict):
            return self.object(value, depth) if value else MapOf(ANY)
        return ANY


def _text(value: str, key: str) -> Shape:
    """Text, unless the sample names types or choices instead of giving one."""
    if _TEXTS.search(key):
        return TEXT
    if _BARRED.match(value):
        return alternatives(value, sample=True) or TEXT
    return named(value, sample=True) or TEXT


def together(shapes: Iterable[Shape]) -> Shape:
    """The type of the values in one list: objects become one, where keys that some lack are optional."""
    listed = list(shapes)
    objects = [one for one in listed if isinstance(one, Object)]
    if not listed or (objects and len(objects) < len(listed)):
        return ANY
    if not objects:
        found = either(listed)
        return ANY if isinstance(found, ListOf | MapOf) and len(set(listed)) > 1 else found
    keys = dict.fromkeys(member.key for one in objects for member in one.members)
    by_key = [{member.key: member for member in one.members} for one in objects]
    return merged(
        Member(
            key,
            together(one[key].shape for one in by_key if key in one),
            all(key in one and one[key].required for one in by_key),
        )
        for key in keys
    )
