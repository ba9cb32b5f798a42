"""JSON Schema: objects with their properties, what is required, choices, lists and definitions."""

from __future__ import annotations

from typing import Any

from checkrein.compile.shapes.tree import (
    ANY,
    MAX_DEPTH,
    NOTHING,
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
    choice,
    either,
    merged,
)

_TYPES = {"string": TEXT, "integer": WHOLE, "number": NUMBER, "boolean": TRUTH, "null": NOTHING}


def is_schema(value: dict[str, Any]) -> bool:
    """Whether it is a schema of an object, not a sample that has a key of this name."""
    properties = value.get("properties")
    return (
        isinstance(properties, dict)
        and bool(properties)
        and all(isinstance(one, dict | bool) for one in properties.values())
        and (value.get("type") == "object" or "$schema" in value or "required" in value or len(value) == 1)
    )


def from_schema(value: dict[str, Any]) -> Object:
    return _Schema(value).object(value, 0)


class _Schema:
    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.open: list[str] = []

    def object(self, schema: dict[str, Any], depth: int) -> Object:
        required = schema.get("required")
        names = (
            frozenset(one for one in required if isinstance(one, str)) if isinstance(required, list) else ()
        )
        title = schema.get("title")
        return merged(
            (
                Member(key, self.shape(member, depth + 1), key in names)
                for key, member in schema["properties"].items()
            ),
            title if isinstance(title, str) else "",
        )

    def shape(self, schema: Any, depth: int) -> Shape:
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return ANY
        if isinstance(schema.get("$ref"), str):
            return self.reference(schema["$ref"], depth)
        options = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(options, list) and options:
            return either(_value(option) for option in options)
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return either(self.shape(one, depth + 1) for one in schema[key])
        kind = schema.get("type")
        if isinstance(kind, list) and kind:
            return either(self.shape({**schema, "type": one}, depth + 1) for one in kind)
        if isinstance(schema.get("properties"), dict) and schema["properties"]:
            return self.object(schema, depth)
        if kind == "object":
            return MapOf(self.shape(schema.get("additionalProperties"), depth + 1))
        if kind == "array":
            return ListOf(self.shape(schema.get("items"), depth + 1))
        return _TYPES.get(kind, ANY) if isinstance(kind, str) else ANY

    def reference(self, target: str, depth: int) -> Shape:
        """What a local reference points to; one that contains itself becomes `Any`."""
        found: Any = self.root
        for part in target.removeprefix("#/").split("/"):
            found = found.get(part) if isinstance(found, dict) else None
        if not target.startswith("#/") or target in self.open:
            return ANY
        self.open.append(target)
        try:
            made = self.shape(found, depth + 1)
        finally:
            self.open.pop()
        if isinstance(made, Object) and not made.name:
            return Object(made.members, target.rsplit("/", 1)[-1])
        return made


def _value(option: Any) -> Shape:
    if isinstance(option, str):
        return choice([option])
    if isinstance(option, bool):
        return TRUTH
    if option is None:
        return NOTHING
    if isinstance(option, int | float):
        return WHOLE if isinstance(option, int) else NUMBER
    return ANY


def checked(value: Any) -> dict[str, Any]:
    """An object with at least one key, all of them text. Raises UnfitError."""
    if not isinstance(value, dict) or not value or not all(isinstance(key, str) for key in value):
        raise UnfitError
    return value
