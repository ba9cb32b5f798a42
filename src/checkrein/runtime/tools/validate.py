"""Check a call's input against its tool's schema.

It knows the subset of JSON Schema that the declarations use: type, enum, properties, required, items,
minItems, maxItems. Models often write a number or a flag as text; it accepts that as the value it means. It
lets unknown fields pass; hooks and rules may look at them.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from checkrein.runtime.tools.port import ToolDeclaration

_INTEGER = re.compile(r"\s*[+-]?\d{1,15}(?:\.0+)?\s*")
_NUMBER = re.compile(r"\s*[+-]?\d{1,15}(?:\.\d+)?\s*")
_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def misfit(declaration: ToolDeclaration, input: dict[str, Any]) -> str | None:
    """What is wrong with an input that runs as it was judged: its values must have their types already."""
    value, problem = coerce(declaration, input)
    given = {name: item for name, item in input.items() if item is not None}
    if problem is None and value != given:
        odd = ", ".join(name for name, item in given.items() if value.get(name) != item)
        return f"The input of {declaration.name} is not valid:\n- values of another type: {odd}"
    return problem


def coerce(declaration: ToolDeclaration, input: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The input with values of the declared types, and its problems."""
    problems: list[str] = []
    value = _convert(input, declaration.schema, "", problems)
    if not problems:
        return value, None
    listed = "\n".join(f"- {problem}" for problem in problems)
    return input, f"The input of {declaration.name} is not valid:\n{listed}"


def _convert(value: Any, schema: dict[str, Any], where: str, problems: list[str]) -> Any:
    kind = schema.get("type")
    converted = _as(value, kind) if kind else value
    if converted is _WRONG:
        problems.append(f"{where or 'the input'} must be {_NAMES[str(kind)]}, not {_say(value)}")
        return value
    choices = schema.get("enum")
    if choices and converted not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        problems.append(f"{where} must be one of {listed}, not {_say(value)}")
    if kind == "object":
        return _object(converted, schema, where, problems)
    if kind == "array":
        return _array(converted, schema, where, problems)
    return converted


def _object(value: dict[str, Any], schema: dict[str, Any], where: str, problems: list[str]) -> Any:
    prefix = f"{where}." if where else ""
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    value = {
        name: item
        for name, item in value.items()
        if item is not None or name not in properties or _takes_null(properties[name])
    }
    problems.extend(f"{prefix}{name} is missing" for name in required if name not in value)
    return {
        name: _convert(item, properties[name], f"{prefix}{name}", problems) if name in properties else item
        for name, item in value.items()
    }


def _takes_null(schema: dict[str, Any]) -> bool:
    kind, choices = schema.get("type"), schema.get("enum")
    kinds = kind if isinstance(kind, list) else [kind]
    return (kind is None or "null" in kinds) and (not choices or None in choices)


def _array(value: list[Any], schema: dict[str, Any], where: str, problems: list[str]) -> Any:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if len(value) < least or (most is not None and len(value) > most):
        problems.append(f"{where} must have {least} to {most} entries, not {len(value)}")
    items = schema.get("items")
    if items is None:
        return value
    return [_convert(item, items, f"{where}[{index}]", problems) for index, item in enumerate(value)]


_WRONG = object()


def _as(value: Any, kind: str) -> Any:
    """The value as `kind`, or _WRONG."""
    match kind:
        case "string":
            if isinstance(value, str):
                return value
            is_plain = isinstance(value, int | float) and not isinstance(value, bool)
            return str(value) if is_plain else _WRONG
        case "boolean":
            if isinstance(value, bool):
                return value
            return (
                {"true": True, "false": False}.get(value.strip().lower(), _WRONG)
                if _is_text(value)
                else _WRONG
            )
        case "integer" | "number":
            return _number(value, kind)
        case "array" | "object":
            wanted = list if kind == "array" else dict
            if _is_text(value):
                try:
                    value = msgspec.json.decode(value)
                except msgspec.DecodeError:
                    return _WRONG
            return value if isinstance(value, wanted) else _WRONG
    return value


def _number(value: Any, kind: str) -> Any:
    if isinstance(value, bool):
        return _WRONG
    if _is_text(value):
        pattern = _INTEGER if kind == "integer" else _NUMBER
        return (
            (int(float(value)) if kind == "integer" else float(value)) if pattern.fullmatch(value) else _WRONG
        )
    if kind == "integer" and isinstance(value, float):
        return int(value) if value.is_integer() else _WRONG
    return value if isinstance(value, int | float) else _WRONG


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _say(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
