"""Each keyword of a schema in the form of JSON Schema 2020-12. What has another form is left out.

Leaving a keyword out widens a schema. Where that would narrow what is around it (`not`, `if`, `oneOf`), the
keyword around it goes too.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from checkrein.base.wellformed import encode

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SINGLE = frozenset({"items", "contains", "propertyNames", "then", "else"})
_FRAGILE = frozenset({"not", "if"})
"""A wider schema in these means a narrower one around them."""
_FALLIBLE = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""They depend on what the other keywords have seen."""
_TEXTS = frozenset({"title", "description", "$comment", "format", "pattern"})
_COUNTS = frozenset(
    {
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    }
)
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_ANCHORS = frozenset({"$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor"})
_NOTES = frozenset({"title", "description", "default", "examples", "deprecated"})
_FIELD = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Services take no other names of fields."""
_DROPPED = object()


class Parts(Struct, frozen=True):
    """The schema that references start from. `old`: its draft ignores what stands beside a `$ref`."""

    whole: dict[str, Any]
    old: bool = False
    moved: bool = False
    """Below an `$id`: a reference starts elsewhere."""


def local(whole: Any, reference: str) -> Any:
    """What a reference such as `#/$defs/X` leads to; None when it leads nowhere, or out of the schema."""
    from urllib.parse import unquote

    if reference == "#":
        return whole
    if not reference.startswith("#/"):
        return None
    found = whole
    for step in unquote(reference[2:]).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found if isinstance(found, dict | bool) else None


def cleaned(schema: Any, parts: Parts) -> dict[str, Any]:
    """The schema with keywords of the right form, in the order of the original."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    if not isinstance(schema, dict):
        return {}
    if "$id" in schema and schema is not parts.whole:
        parts = Parts(parts.whole, parts.old, moved=True)
    schema = _modern(schema, parts)
    result: dict[str, Any] = {}
    for key, value in schema.items():
        kept = _keyword(key, value, parts)
        if kept is not _DROPPED:
            result[key] = kept
    return _consistent(schema, _with_fit_fields(result))


def _modern(schema: dict[str, Any], parts: Parts) -> dict[str, Any]:
    """The same in today's words."""
    if parts.old and isinstance(schema.get("$ref"), str):
        return {key: value for key, value in schema.items() if key == "$ref" or key in _NOTES}
    if isinstance(schema.get("items"), list):
        rest = {} if "additionalItems" not in schema else {"items": schema["additionalItems"]}
        others = {key: value for key, value in schema.items() if key not in ("items", "additionalItems")}
        return {**others, "prefixItems": schema["items"], **rest}
    return schema


def _keyword(key: str, value: Any, parts: Parts) -> Any:
    if key in _MAPS:
        return (
            {name: cleaned(one, parts) for name, one in value.items()}
            if isinstance(value, dict)
            else _DROPPED
        )
    if key in _LISTS:
        return [cleaned(one, parts) for one in value] if isinstance(value, list) and value else _DROPPED
    if key in _SINGLE:
        return cleaned(value, parts) if isinstance(value, dict | bool) else _DROPPED
    if key == "additionalProperties" or key in _FALLIBLE:
        if isinstance(value, bool):
            return value
        return cleaned(value, parts) if isinstance(value, dict) else _DROPPED
    if key in _FRAGILE:
        sure = isinstance(value, dict) and not _refers(value) and cleaned(value, parts) == value
        return value if sure else _DROPPED
    return value if _is_fit(key, value, parts) else _DROPPED


def _is_fit(key: str, value: Any, parts: Parts) -> bool:
    if key == "$ref":
        return isinstance(value, str) and not parts.moved and local(parts.whole, value) is not None
    if key in _ANCHORS or key == "$schema":
        return False
    if key == "type":
        kinds = value if isinstance(value, list) else [value]
        return bool(kinds) and all(isinstance(k, str) and k in _TYPES for k in kinds) and _unique(kinds)
    if key == "required":
        return isinstance(value, list) and all(isinstance(name, str) for name in value) and _unique(value)
    if key == "dependentRequired":
        return isinstance(value, dict) and all(_is_fit("required", one, parts) for one in value.values())
    if key in ("enum", "examples"):
        return isinstance(value, list) and bool(value)
    if key in _TEXTS:
        return isinstance(value, str)
    if key in _COUNTS:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if key in _NUMBERS or key == "multipleOf":
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and (key != "multipleOf" or value > 0)
    if key in ("uniqueItems", "deprecated", "readOnly", "writeOnly"):
        return isinstance(value, bool)
    return True


def _unique(values: list[Any]) -> bool:
    return len(set(values)) == len(values)


def _consistent(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Without the keywords that a change of others has made narrower."""
    changed = {key for key in before if after.get(key, _DROPPED) != before[key]}
    if "if" in changed:
        after = {key: value for key, value in after.items() if key not in ("if", "then", "else")}
    if "oneOf" in after and ("oneOf" in changed or _refers(after["oneOf"])):
        choices = {"anyOf": after["oneOf"]}
        more = {"allOf": [*after.get("allOf", ()), choices]} if "anyOf" in after else choices
        after = {key: value for key, value in after.items() if key != "oneOf"} | more
    if "contains" in changed or _refers(after.get("contains")):
        after = {key: value for key, value in after.items() if key != "maxContains"}
    if changed:
        after = {key: value for key, value in after.items() if key not in _FALLIBLE}
    return after


def _refers(value: Any) -> bool:
    """Whether a reference is in it: what it leads to may have become wider."""
    return b'"$ref"' in encode(value)


def _with_fit_fields(schema: dict[str, Any]) -> dict[str, Any]:
    """A field whose name services refuse is in the description, and may still be given."""
    fields = schema.get("properties")
    if not fields:
        return schema
    strange = {name: form for name, form in fields.items() if not _FIELD.fullmatch(name)}
    if not strange:
        return schema
    text = "; ".join(f"{encode(name).decode()}: {encode(form).decode()}" for name, form in strange.items())
    said = f"{schema.get('description', '')} It also takes {text}.".strip()
    kept = {name: form for name, form in fields.items() if name not in strange}
    open_ = {key: value for key, value in schema.items() if key != "additionalProperties"}
    return {**open_, "properties": kept, "description": said}
