"""Input schemas of server tools in the form that every model service takes: an object without choices.

Each change only widens: an input that the server's own schema accepts stays valid. References lead nowhere
outside the schema; nothing is fetched.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.base.wellformed import encode, scrubbed
from checkrein.facts.mcp import SCHEMA_BYTES, SCHEMA_DEPTH
from checkrein.runtime.mcp.schema_parts import Parts, cleaned, local

_OBJECT = {"type": "object"}
_PASSES = 8
"""A change may leave a reference that leads nowhere, which the next pass takes away."""
_ROOT_ONLY = ("$schema", "$id")
_JOINED = ("$ref", "allOf", "anyOf", "oneOf")
_LARGEST_FIELD = 1_000
"""Parts of one field that choices have in common; a field with more is left open."""


class Accepted(Struct, frozen=True):
    """`notes` tell the model what the schema itself can't say any more."""

    schema: dict[str, Any]
    notes: tuple[str, ...] = ()


def acceptable(schema: Any) -> Accepted:
    """The schema as an object schema. Never raises, and never changes `schema`."""
    if not isinstance(schema, dict):
        return _open("The server gives no schema for the input.") if schema is not None else _open()
    if _depth(schema) > SCHEMA_DEPTH:
        return _open("The server's schema for the input is nested too deeply to be shown.")
    given: dict[str, Any] = scrubbed(schema)
    if len(encode(given)) > SCHEMA_BYTES:
        return _open("The server's schema for the input is too large to be shown.")
    old = "draft-0" in str(given.get("$schema", ""))
    root, sets = _Flat(given, old).root()
    whole = {"type": "object", "properties": {}, **root, **_OBJECT}
    for key in _ROOT_ONLY:
        whole.pop(key, None)
    for _ in range(_PASSES):
        before, whole = whole, cleaned(whole, Parts(whole, old))
        if whole == before:
            break
    else:
        return _open("The server's schema for the input can't be shown.")
    return Accepted({"type": "object", "properties": {}, **whole}, (_choice(sets),) if sets else ())


def _open(*notes: str) -> Accepted:
    return Accepted({"type": "object", "properties": {}}, notes)


def _choice(sets: list[tuple[str, ...]]) -> str:
    listed = " or ".join(", ".join(f"`{name}`" for name in names) for names in sets)
    return f"Give one of these sets of fields: {listed}."


def _depth(value: Any) -> int:
    """How deeply a value is nested. Without recursion, and no further than the limit."""
    level, depth = [value], 0
    while level and depth <= SCHEMA_DEPTH:
        depth += 1
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
    return depth


class _Shape(Struct):
    """What is known of the objects that a schema accepts. `closed`: they have no other fields."""

    properties: dict[str, Any]
    required: list[str]
    sets: list[tuple[str, ...]]
    closed: bool = False


class _Flat:
    """A root without `$ref`, `allOf`, `anyOf` and `oneOf`."""

    def __init__(self, schema: dict[str, Any], old: bool) -> None:
        self._whole = schema
        self._old = old
        self._known: dict[str, _Shape] = {}

    def root(self) -> tuple[dict[str, Any], list[tuple[str, ...]]]:
        """The flat root, and the sets of fields of which one is needed."""
        schema = self._whole
        if not any(key in schema for key in _JOINED):
            return schema, []
        shape = self._shape(schema)
        left_out = (*_JOINED, "unevaluatedProperties")
        kept = {key: value for key, value in self._counted(schema).items() if key not in left_out}
        flat = {**kept, "properties": shape.properties, "required": shape.required}
        return flat, shape.sets

    def _counted(self, schema: dict[str, Any]) -> dict[str, Any]:
        """What counts beside a `$ref`: in old drafts only the definitions."""
        if not self._old or not isinstance(schema.get("$ref"), str):
            return schema
        return {key: schema[key] for key in ("$ref", "$defs", "definitions", "description") if key in schema}

    def _shape(self, schema: Any) -> _Shape:
        if not isinstance(schema, dict):
            return _Shape({}, [], [])
        schema = self._counted(schema)
        shape = _Shape(_mapping(schema.get("properties")), _names(schema.get("required")), [])
        shape.closed = _is_closed(schema)
        for one in _listed(schema.get("allOf")):
            _add(shape, self._shape(one))
        if isinstance(schema.get("$ref"), str):
            _add(shape, self._referred(schema["$ref"]))
        for key in ("anyOf", "oneOf"):
            choices = [one for one in _listed(schema.get(key)) if _may_be_object(one)]
            if choices:
                _add(shape, _either([self._shape(one) for one in choices]))
        return shape

    def _referred(self, reference: str) -> _Shape:
        """Each target once: a schema may lead back to itself, or to the same place on many ways."""
        if reference not in self._known:
            self._known[reference] = _Shape({}, [], [])
            self._known[reference] = self._shape(local(self._whole, reference))
        return self._known[reference]


def _add(shape: _Shape, more: _Shape) -> None:
    for name, value in more.properties.items():
        mine = shape.properties.get(name)
        if mine is None or mine in ({}, True):
            shape.properties[name] = value
        elif value not in (mine, {}, True):
            shape.properties[name] = _small({"allOf": [mine, value]})
    shape.required += [name for name in more.required if name not in shape.required]
    shape.sets += [one for one in more.sets if one not in shape.sets]


def _small(form: dict[str, Any]) -> dict[str, Any]:
    """The form of a field, or any form when it is too large: parts that it repeats multiply."""
    left, seen = [form], 0
    while left and seen <= _LARGEST_FIELD:
        one: Any = left.pop()
        seen += 1
        if isinstance(one, dict | list):
            left.extend(one.values() if isinstance(one, dict) else one)
    return {} if left else form


def _either(shapes: list[_Shape]) -> _Shape:
    """What holds for all choices. A field that another choice leaves open may have any value."""
    names = dict.fromkeys(name for shape in shapes for name in shape.properties)
    properties: dict[str, Any] = {}
    for name in names:
        forms: list[Any] = []
        for shape in shapes:
            form = shape.properties.get(name, None if shape.closed else {})
            if form is not None and form not in forms:
                forms.append(form)
        properties[name] = forms[0] if len(forms) == 1 else _small({"anyOf": forms})
    needed = [tuple(shape.required) for shape in shapes]
    inner = [one for shape in shapes for one in shape.sets]
    sets = list(dict.fromkeys(needed)) if all(needed) else []
    return _Shape(properties, [], sets or inner)


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _names(value: Any) -> list[str]:
    return [name for name in _listed(value) if isinstance(name, str)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_closed(schema: dict[str, Any]) -> bool:
    return schema.get("additionalProperties") is False and not schema.get("patternProperties")


def _may_be_object(schema: Any) -> bool:
    """Whether an object can match. A choice that nothing matches counts too: it only widens."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind is None or kind == "object" or (isinstance(kind, list) and "object" in kind)
