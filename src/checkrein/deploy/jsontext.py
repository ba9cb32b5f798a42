"""Edits JSON as text: one member goes in or out, every other byte stays.

`parts` lead to a value: keys of objects and, as the last one, an index of a list; three at most. `insert`
adds after the last member, and `remove` restores the same bytes. Texts are JSON without repeated keys; they
may have comments and commas before a closing bracket, which stay where they are.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from msgspec import Struct

from checkrein.base import jsonc

Parts = tuple[str | int, ...]
DEPTH = 3
_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


class Child(Struct, frozen=True):
    """A member or an element: `begin` is at its key, `at` at its value, `end` after it."""

    key: str | int
    begin: int
    at: int
    end: int
    value: Any


def find(text: str, parts: Parts) -> Child | None:
    """The value that `parts` lead to; the whole document for no parts."""
    return _places(text).get(parts)


@lru_cache(maxsize=2)
def _strict(text: str) -> str:
    return jsonc.strict(text)


@lru_cache(maxsize=2)
def _places(written: str) -> dict[Parts, Child]:
    text = _strict(written)
    at = _skip(text, 0)
    value, end = _decode(text, at)
    found: dict[Parts, Child] = {(): Child("", at, at, end, value)}
    level: list[Parts] = [()]
    for _ in range(DEPTH):
        inside: list[Parts] = []
        for parts in level:
            if isinstance(found[parts].value, dict | list):
                for child in children(text, found[parts].at)[0]:
                    found[*parts, child.key] = child
                    inside.append((*parts, child.key))
        level = inside
    return found


def children(text: str, at: int) -> tuple[list[Child], int]:
    """The members of the object or list that opens at `at`, and where it closes."""
    is_object = text[at] == "{"
    closing = "}" if is_object else "]"
    found: list[Child] = []
    place = _skip(text, at + 1)
    while text[place] != closing:
        begin, key = place, len(found)
        if is_object:
            key, place = _decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        value, end = _decode(text, place)
        found.append(Child(key, begin, place, end, value))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found, place


def insert(text: str, parts: Parts, items: list[tuple[str, Any]]) -> str:
    """Put members after the last one, in the text's own style. A list ignores the keys."""
    holder = find(text, parts)
    assert holder is not None
    is_object = isinstance(holder.value, dict)
    inside, close = children(_strict(text), holder.at)
    newline = "\r\n" if "\r\n" in text else "\n"
    step = _step(text)
    line = text[: holder.begin].rpartition("\n")[2]
    outer = line[: len(line) - len(line.lstrip(" \t"))]
    if inside:
        before = text[: inside[-1].begin]
        space = before[len(before.rstrip(" \t\r\n")) :]
        end = inside[-1].end
        comma, tail, takes_line = _behind(text, end, close)
        inline = "\n" not in space and not takes_line
        indent = space.rpartition("\n")[2] if "\n" in space else outer + step
    else:
        noted = text[holder.at + 1 : close].rstrip(" \t\r\n")
        inline = bool(parts) and "\n" not in text and not noted
        indent = outer + step
    gap = "" if inline else newline + indent
    members = [
        (f"{_encoded(key, None)}: " if is_object else "")
        + _encoded(value, None if inline else step).replace("\n", newline + indent)
        for key, value in items
    ]
    between = ", " if inline else "," + gap
    if inside:
        first = " " if inline else gap
        added = first + between.join(members) + ("," if comma else "")
        return text[:end] + ("" if comma else ",") + text[end:tail] + added + text[tail:]
    last = "" if inline else newline + outer
    return text[: holder.at + 1] + noted + gap + between.join(members) + last + text[close:]


def _behind(text: str, end: int, close: int) -> tuple[bool, int, bool]:
    """What follows the last member: whether there is a comma, where the comments on its line end, and whether
    such a comment takes the rest of the line."""
    comma = jsonc.without_comments(text).find(",", end, close)
    tail, takes_line = jsonc.notes(text, comma + 1 if comma >= 0 else end)
    return comma >= 0, tail, takes_line


def remove(text: str, parts: Parts) -> str:
    """Take a member out with its comma. An object that becomes empty keeps only brackets and comments."""
    holder = find(text, parts[:-1])
    assert holder is not None
    inside, close = children(_strict(text), holder.at)
    index = next(index for index, child in enumerate(inside) if child.key == parts[-1])
    member = inside[index]
    plain = jsonc.without_comments(text)
    following = inside[index + 1].begin if index + 1 < len(inside) else close
    comma = plain.find(",", member.end, following)
    end = comma + 1 if comma >= 0 else member.end
    start, takes_line = jsonc.before(text, member.begin)
    if index == 0 and index + 1 < len(inside):
        rest = text[end:]
        return text[: member.begin] + rest[len(rest) - len(rest.lstrip(" \t\r\n")) :]
    if index == 0:
        left = text[holder.at + 1 : start] + text[end:close]
        if not left.strip():
            return text[: holder.at + 1] + text[close:]
    if takes_line and text[end:].partition("\n")[0].strip():
        start = member.begin
    if index and comma < 0:
        lead = plain.find(",", inside[index - 1].end, member.begin)
        return text[:lead] + text[lead + 1 : start] + text[end:]
    return text[:start] + text[end:]


def replace(text: str, parts: Parts, value: Any) -> str:
    """Put another value in the same place."""
    child = find(text, parts)
    assert child is not None
    line = text[: child.begin].rpartition("\n")[2]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    newline = "\r\n" if "\r\n" in text else "\n"
    encoded = _encoded(value, _step(text) if "\n" in text else None).replace("\n", newline + indent)
    return text[: child.at] + encoded + text[child.end :]


def inner(text: str, parts: Parts) -> str | None:
    """The text between the brackets of an empty object or list; None when it is not empty."""
    holder = find(text, parts)
    if holder is None or holder.value not in ({}, []):
        return None
    return text[holder.at + 1 : holder.end - 1]


def has_comment(text: str, child: Child) -> bool:
    """Whether a value has a comment in it."""
    written = text[child.at : child.end]
    return jsonc.without_comments(written) != written


def set_inner(text: str, parts: Parts, space: str) -> str:
    holder = find(text, parts)
    assert holder is not None
    return text[: holder.at + 1] + space + text[holder.end - 1 :]


def _step(text: str) -> str:
    """The indentation of the first member of the document; two spaces where it has none."""
    found = re.match(r"\s*\{[ \t]*\r?\n([ \t]+)\S", jsonc.without_comments(text))
    return found[1] if found else "  "


def _encoded(value: Any, indent: str | None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place
