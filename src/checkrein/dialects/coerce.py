"""From YAML or JSON values to the type of a field. `WRONG` says that a value does not fit."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from checkrein.model.rule import split_rule_list


class _Wrong(Enum):
    WRONG = 0


WRONG: Final = _Wrong.WRONG
Coercion = Callable[[Any], Any]

_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


def as_text(value: Any) -> str | _Wrong:
    """Any scalar, written as in the file; a list such as `[topic]` keeps its brackets."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        parts = [as_text(item) for item in value]
        texts = [part for part in parts if isinstance(part, str)]
        return "[" + ", ".join(texts) + "]" if len(texts) == len(parts) else WRONG
    if isinstance(value, dict) or value is None:
        return WRONG
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def as_scalar(value: Any) -> str | _Wrong:
    return WRONG if isinstance(value, list) else as_text(value)


def as_flag(value: Any) -> bool | _Wrong:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word in _YES:
        return True
    return False if word in _NO else WRONG


def as_int(value: Any) -> int | _Wrong:
    if isinstance(value, bool):
        return WRONG
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
        return int(value)
    return WRONG


def as_number(value: Any) -> float | _Wrong:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return WRONG
    try:
        return float(value)
    except OverflowError:
        return WRONG


def as_map(value: Any) -> dict[str, Any] | _Wrong:
    return {_key(key): plain(item) for key, item in value.items()} if isinstance(value, dict) else WRONG


def plain(value: Any) -> Any:
    """A value as JSON can hold it: keys are texts, sets are sorted lists. Scalars do not change."""
    if isinstance(value, dict):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return sorted(map(_key, value)) if isinstance(value, set) else value


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    text = as_text(list(key) if isinstance(key, tuple) else key)
    return text if isinstance(text, str) else "null" if key is None else str(key)


def as_text_map(value: Any) -> dict[str, str] | _Wrong:
    """A map of texts; an entry that is not a scalar makes the whole map wrong."""
    if not isinstance(value, dict):
        return WRONG
    result: dict[str, str] = {}
    for key, item in value.items():
        text = as_scalar(item)
        if not isinstance(text, str):
            return WRONG
        result[str(key)] = text
    return result


def as_texts(value: Any) -> tuple[str, ...] | _Wrong:
    """A list of scalars; one scalar counts as a list of one."""
    if not isinstance(value, list):
        single = as_scalar(value)
        return (single,) if isinstance(single, str) else WRONG
    items = [as_scalar(item) for item in value]
    texts = tuple(item for item in items if isinstance(item, str))
    return texts if len(texts) == len(items) else WRONG


def as_names(value: Any) -> tuple[str, ...] | _Wrong:
    """A list, or a string split on commas."""
    if isinstance(value, str):
        return tuple(name for part in value.split(",") if (name := part.strip()))
    return as_texts(value)


def as_words(value: Any) -> tuple[str, ...] | _Wrong:
    """Argument names: a list (of names, or of objects with `name`), or a string split on blanks."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    if isinstance(value, list):
        return as_texts([item.get("name") if isinstance(item, dict) else item for item in value])
    return as_texts(value)


def as_tools(value: Any) -> tuple[str, ...] | _Wrong:
    """Tool rules: a list, or a string split on commas and blanks outside parentheses."""
    if isinstance(value, str):
        return tuple(split_rule_list(value))
    texts = as_texts(value)
    if not isinstance(texts, tuple):
        return WRONG
    return tuple(rule for text in texts for rule in split_rule_list(text))


def as_globs(value: Any) -> tuple[str, ...] | _Wrong:
    """A list, or a string split on commas outside braces."""
    if not isinstance(value, str):
        return as_texts(value)
    parts = [""]
    depth = 0
    for char in value:
        if char == "," and depth == 0:
            parts.append("")
            continue
        depth = max(0, depth + (char == "{") - (char == "}"))
        parts[-1] += char
    return tuple(part.strip() for part in parts if part.strip())


COERCIONS: dict[str, Coercion] = {
    "text": as_text,
    "flag": as_flag,
    "int": as_int,
    "names": as_names,
    "words": as_words,
    "tools": as_tools,
    "globs": as_globs,
    "map": as_map,
    "intent": as_map,
}

EXPECTED: dict[str, str] = {
    "text": "text",
    "flag": "true or false",
    "int": "a whole number",
    "names": "a list of names",
    "words": "a list of names",
    "tools": "a list of tools",
    "globs": "a list of patterns",
    "map": "a map of fields",
    "hooks": "a map of events",
    "servers": "a list of servers",
}
