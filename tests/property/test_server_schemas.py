"""Whatever schema a server sends: models get an object schema, and every input that was valid stays valid."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from checkrein.runtime.mcp.schemas import acceptable
from checkrein.runtime.tools.port import ToolDeclaration
from checkrein.runtime.tools.validate import coerce

seeded = settings(derandomize=True, max_examples=150, deadline=None)
names = st.sampled_from(["a", "b", "c", "$d"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "5", "true"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
kinds = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])
references = st.sampled_from(["#/$defs/X", "#/$defs/Y", "#/$defs/Y/properties/a", "#/nowhere", "http://x/y"])
"""Into the definitions, which refer to nothing: the validator of the test never ends on a circle."""


def _forms(inner: st.SearchStrategy[Any], refer: bool = True) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(names, inner, max_size=3)
    several = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": kinds | st.lists(kinds, min_size=1, max_size=2, unique=True),
            "properties": fields,
            "required": st.lists(names, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "anyOf": several,
            "oneOf": several,
            "allOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "items": inner,
            "prefixItems": several,
            "enum": st.lists(values, min_size=1, max_size=3),
            "minItems": st.integers(0, 2),
            "maxProperties": st.integers(0, 3),
            "unevaluatedProperties": st.booleans(),
            **({"$ref": references} if refer else {}),
        },
    )


plain = st.booleans() | st.fixed_dictionaries({}, optional={"type": kinds, "minLength": st.just(1)})
forms = st.recursive(plain, _forms, max_leaves=10)
targets = st.recursive(plain, lambda inner: _forms(inner, refer=False), max_leaves=6)
roots = st.tuples(_forms(forms), st.dictionaries(st.sampled_from(["X", "Y"]), targets)).map(
    lambda pair: {**pair[0], "$defs": pair[1]}
)
inputs = st.dictionaries(names, values, max_size=3)
rubbish = st.dictionaries(
    st.sampled_from(
        ["type", "properties", "required", "items", "anyOf", "enum", "$ref", "minItems", "$defs"]
    ),
    st.recursive(values, lambda inner: st.dictionaries(st.sampled_from(["type", "items", "a"]), inner)),
)


def _is_valid(schema: dict[str, Any], input: dict[str, Any]) -> bool:
    try:
        return bool(Draft202012Validator(schema, registry=Registry()).is_valid(input))
    except (Unresolvable, TypeError):  # the validator itself fails on a way through `true`
        return False


@seeded
@given(roots, st.lists(inputs, min_size=1, max_size=4))
def test_what_was_valid_stays_valid(schema: dict[str, Any], given: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(schema)
    found = acceptable(schema).schema
    assert schema == before
    assert found["type"] == "object"
    assert isinstance(found["properties"], dict)
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & found.keys()
    Draft202012Validator.check_schema(found)
    declaration = ToolDeclaration(name="t", schema=found, description="")
    for input in given:
        if _is_valid(before, input):
            assert _is_valid(found, input), (found, input)
            taken, problem = coerce(declaration, input)
            assert problem is None, (found, input)
            assert taken == {name: value for name, value in input.items() if name in taken}


@seeded
@given(rubbish, inputs)
def test_any_value_is_taken(schema: dict[str, Any], input: dict[str, Any]) -> None:
    found = acceptable(schema).schema
    Draft202012Validator.check_schema(found)
    coerce(ToolDeclaration(name="t", schema=found, description=""), input)
