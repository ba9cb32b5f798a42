"""Schemas of servers in the form that model services take."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from checkrein.runtime.mcp.schemas import acceptable
from checkrein.runtime.tools.port import ToolDeclaration
from checkrein.runtime.tools.validate import coerce

TEXT = {"type": "string"}


def shown(schema: Any) -> dict[str, Any]:
    before = copy.deepcopy(schema)
    found = acceptable(schema).schema
    assert schema == before
    Draft202012Validator.check_schema(found)
    assert found["type"] == "object"
    assert isinstance(found["properties"], dict)
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & found.keys()
    return found


def test_a_plain_schema_stays_as_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {**TEXT, "default": 1}}, "required": ["a"]}
    assert shown({**schema, "$schema": "http://json-schema.org/draft-07/schema#"}) == schema
    assert acceptable(schema).notes == ()


@pytest.mark.parametrize(
    "schema", [None, {}, [], "x", True, {"type": "string"}, {"type": ["object", "null"]}]
)
def test_anything_becomes_an_object(schema: Any) -> None:
    assert shown(schema) == {"type": "object", "properties": {}}


def test_all_of_is_merged_and_keeps_what_is_required() -> None:
    one = {"properties": {"a": TEXT}, "required": ["a"]}
    other = {"properties": {"b": TEXT, "a": {"minLength": 1}}, "required": ["b"]}
    found = shown({"allOf": [one, other]})
    assert found["properties"] == {"a": {"allOf": [TEXT, {"minLength": 1}]}, "b": TEXT}
    assert found["required"] == ["a", "b"]


def test_choices_are_merged_and_their_required_fields_described() -> None:
    by_id = {"properties": {"id": TEXT}, "required": ["id"], "additionalProperties": False}
    by_name = {"properties": {"name": TEXT}, "required": ["name"]}
    for key in ("anyOf", "oneOf"):
        schema = {"type": "object", "properties": {"all": {"type": "boolean"}}, key: [by_id, by_name]}
        found = shown(schema)
        assert found["properties"] == {
            "all": {"type": "boolean"},
            "id": {"anyOf": [TEXT, {}]},
            "name": TEXT,
        }
        assert found["required"] == []
        assert acceptable(schema).notes == ("Give one of these sets of fields: `id` or `name`.",)


def test_a_reference_at_the_root_is_followed_inside_the_schema_only() -> None:
    schema = {"$ref": "#/$defs/In", "$defs": {"In": {"type": "object", "properties": {"a": TEXT}}}}
    assert shown(schema)["properties"] == {"a": TEXT}
    assert shown({"$ref": "https://evil.example/schema.json"})["properties"] == {}
    assert shown({"$ref": "file:///etc/passwd"})["properties"] == {}
    inner = {"properties": {"a": {"$ref": "http://x/y"}, "b": {"$ref": "#/nowhere", "description": "d"}}}
    assert shown(inner)["properties"] == {"a": {}, "b": {"description": "d"}}


def test_a_schema_that_leads_back_to_itself_ends() -> None:
    tree = {"properties": {"next": {"$ref": "#"}}, "allOf": [{"$ref": "#"}, {"$ref": "#"}]}
    assert shown(tree)["properties"] == {"next": {"$ref": "#"}}
    wide: dict[str, Any] = {
        f"D{n}": {
            "anyOf": [
                {"properties": {"p": {"minLength": n}}, "allOf": [{"$ref": f"#/$defs/D{n + 1}"}]},
                {"properties": {"p": {"maxLength": n}}, "allOf": [{"$ref": f"#/$defs/D{n + 1}"}]},
            ]
        }
        for n in range(60)
    }
    shown({"$ref": "#/$defs/D0", "$defs": wide})


def test_what_is_too_deep_or_too_large_is_replaced() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"properties": {"a": deep}}
    large = {"properties": {f"field{n}": {"description": "x" * 100} for n in range(1_000)}}
    for schema in (deep, large):
        found = acceptable(schema)
        assert found.schema == {"type": "object", "properties": {}}
        assert "shown" in found.notes[0]


@pytest.mark.parametrize(
    "broken",
    [
        {"properties": []},
        {"properties": {"a": None, "b": True, "c": False, "d": 5}},
        {"required": True},
        {"required": ["a", "a"]},
        {"properties": {"a": {"type": "array", "items": [TEXT]}}},
        {"properties": {"a": {"type": "array", "items": True, "minItems": "1"}}},
        {"properties": {"a": {"type": "any", "enum": []}, "b": {"enum": "x"}, "c": {"type": ["x"]}}},
        {"properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}},
        {"properties": {"a": {"anyOf": []}, "b": {"not": {"type": "any"}}}},
        {"$defs": 5, "description": 5, "title": {}},
        {"properties": {"$filter": TEXT, "ü": TEXT, "x" * 65: TEXT}, "additionalProperties": False},
        {"properties": {"\ud800": TEXT}, "description": "\udc00"},
        {"anyOf": 5, "allOf": [5, None, True], "oneOf": [False]},
    ],
)
def test_a_broken_schema_is_taken_without_its_broken_parts(broken: dict[str, Any]) -> None:
    found = shown(broken)
    declaration = ToolDeclaration(name="t", schema=found, description="")
    for value in ("x", 5, None, [1, "a"], {"a": 1}):
        coerce(declaration, {"a": value, "b": value, "c": value})[1]


def test_a_field_that_services_refuse_is_described() -> None:
    schema = {"type": "object", "properties": {"$filter": TEXT, "ok": TEXT}, "additionalProperties": False}
    found = shown(schema)
    assert list(found["properties"]) == ["ok"]
    assert '"$filter"' in found["description"]
    assert Draft202012Validator(found).is_valid({"$filter": "x"})


def test_null_reaches_a_server_that_takes_it() -> None:
    fields = {"a": {"type": ["string", "null"]}, "b": {"anyOf": [TEXT, {"type": "null"}]}, "c": TEXT}
    schema = {"type": "object", "properties": fields, "required": ["a", "b"]}
    declaration = ToolDeclaration(name="t", schema=schema, description="")
    assert coerce(declaration, {"a": None, "b": None, "c": None})[1] is None
    assert coerce(declaration, {"a": None})[1] is not None
