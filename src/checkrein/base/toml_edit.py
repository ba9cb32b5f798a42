"""Change one value in the text of a TOML file, and leave everything else as its owner wrote it."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import msgspec

UNSET = object()
"""In place of a value: take the key away."""


class NotEditableError(ValueError):
    """The key is written in a way that only a person can change."""


def with_value(text: str, name: str, value: Any) -> str:
    """The text with `name` (dotted) set to `value`, or without it. Raises NotEditableError, and
    tomllib.TOMLDecodeError when the text is not TOML."""
    before = tomllib.loads(text)
    wanted = _changed(before, name.split("."), value)
    if wanted == before:
        return text
    for candidate in _candidates(text.splitlines(keepends=True), name, value):
        try:
            found = tomllib.loads(candidate)
        except tomllib.TOMLDecodeError:
            continue
        if _without_empty(found) == _without_empty(wanted):
            return candidate
    raise NotEditableError(name)


def _candidates(lines: list[str], name: str, value: Any) -> Iterator[str]:
    """Texts that may be the wanted one: the key's lines replaced, or a new line in its table."""
    section, _, leaf = name.rpartition(".")
    new = "" if value is UNSET else f"{_key(leaf)} = {written(value)}\n"
    dotted = "" if value is UNSET else f"{name} = {written(value)}\n"
    for number, line in enumerate(lines):
        for key, text in ((_key(leaf), new), (name, dotted)):
            if re.match(rf"\s*{re.escape(key)}\s*=", line):
                for end in range(number + 1, len(lines) + 1):
                    yield "".join((*lines[:number], text, *lines[end:]))
    for number, line in enumerate(lines):
        if re.match(rf"\s*\[\s*{re.escape(section)}\s*\]", line):
            start = line if line.endswith("\n") else f"{line}\n"
            yield "".join((*lines[:number], start, new, *lines[number + 1 :]))
    whole = "".join(lines)
    gap = ("" if not whole or whole.endswith("\n") else "\n") + ("\n" if whole.strip() else "")
    yield f"{whole}{gap}[{section}]\n{new}" if section else f"{new}{whole}"


def written(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else written(name)


def _changed(table: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    made = copy.deepcopy(table)
    inner = made
    for part in path[:-1]:
        inner = inner.setdefault(part, {})
        if not isinstance(inner, dict):
            raise NotEditableError(".".join(path))
    if value is UNSET:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return made


def _without_empty(table: dict[str, Any]) -> dict[str, Any]:
    """A table without empty ones in it: a section whose last key is gone may stay."""
    kept = {key: _without_empty(value) if isinstance(value, dict) else value for key, value in table.items()}
    return {key: value for key, value in kept.items() if value != {}}
