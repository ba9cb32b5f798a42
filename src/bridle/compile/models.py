"""Pydantic models out of JSON examples and JSON Schemas that stand in a spec."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from bridle.compile.names import class_name, identifier
from bridle.compile.values import Element

_MAX_FIELDS = 60
_MAX_DEPTH = 4
_MEMBERS = frozenset({"model", "schema", "json", "copy", "dict", "construct", "validate", "fields", "config"})


class Field(Struct, frozen=True):
    name: str
    alias: str | None
    annotation: str
    required: bool
    about: str = ""


class Model(Struct, frozen=True):
    """`inner` models come before the one that names them."""

    name: str
    fields: tuple[Field, ...]
    inner: tuple[Model, ...] = ()
    about: str = "A shape that the spec gives."


def model_of(element: Element) -> Model | None:
    """The model a SCHEMA element describes; None when its text is no JSON object."""
    try:
        value = json.loads(element.content_full)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value or not all(isinstance(key, str) for key in value):
        return None
    title = class_name(str(value.get("title") or element.heading), "Output")
    name = title if title.endswith(("Output", "Report", "Result", "Response")) else f"{title}Shape"
    if isinstance(value.get("properties"), dict):
        return _from_schema(value, name, 0)
    return _from_example(value, name, 0)


def _from_schema(schema: dict[str, Any], name: str, depth: int) -> Model | None:
    required = set(schema.get("required") or ()) if isinstance(schema.get("required"), list) else set()
    fields: list[Field] = []
    inner: list[Model] = []
    used: set[str] = set()
    for key, member in list(schema["properties"].items())[:_MAX_FIELDS]:
        annotation = _schema_type(
            member if isinstance(member, dict) else {}, f"{name}{class_name(key, 'Part')}", inner, depth
        )
        fields.append(field_of(key, annotation, key in required, used))
    return Model(name, tuple(fields), tuple(inner)) if fields else None


def _schema_type(schema: dict[str, Any], name: str, inner: list[Model], depth: int) -> str:
    kind = schema.get("type")
    options = schema.get("enum")
    if isinstance(options, list) and options and all(isinstance(option, str) for option in options):
        return "str"
    if kind == "object" and isinstance(schema.get("properties"), dict) and depth < _MAX_DEPTH:
        model = _from_schema(schema, name, depth + 1)
        if model is not None:
            inner.append(model)
            return model.name
    if kind == "array":
        items = schema.get("items")
        return f"list[{_schema_type(items if isinstance(items, dict) else {}, name, inner, depth)}]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}.get(str(kind), "Any")


def _from_example(value: dict[str, Any], name: str, depth: int) -> Model | None:
    fields: list[Field] = []
    inner: list[Model] = []
    used: set[str] = set()
    for key, member in list(value.items())[:_MAX_FIELDS]:
        annotation = _example_type(member, f"{name}{class_name(key, 'Part')}", inner, depth)
        fields.append(field_of(key, annotation, True, used))
    return Model(name, tuple(fields), tuple(inner)) if fields else None


def _example_type(value: Any, name: str, inner: list[Model], depth: int) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "str"
    if isinstance(value, list):
        return f"list[{_example_type(value[0], name, inner, depth) if value else 'Any'}]"
    if isinstance(value, dict) and value and depth < _MAX_DEPTH:
        model = _from_example(value, name, depth + 1)
        if model is not None:
            inner.append(model)
            return model.name
    return "Any"


def field_of(key: str, annotation: str, required: bool, used: set[str], about: str = "") -> Field:
    """A field whose name is safe in a pydantic model; the key is its alias where the two differ."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key)
    name = identifier(spaced, "field", 8)
    if name in _MEMBERS or name.startswith("model_"):
        name = f"field_{name}"
    base, number = name, 2
    while name in used:
        name = f"{base}_{number}"
        number += 1
    used.add(name)
    return Field(name, None if name == key else key, annotation, required, about)


def flatten(model: Model) -> tuple[Model, ...]:
    """Inner models first, each once."""
    found = [one for part in model.inner for one in flatten(part)]
    return (*found, model)
