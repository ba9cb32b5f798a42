"""What an expression of a recipe gives.

Total: for a missing name, or a comparison that makes no sense, it is a Failure that names the expression and
its place. Nothing raises.

Inputs are texts, so values compare by their text: `true` is `"true"`, a missing value `""`. If one side is a
number, both are compared as numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.model.expression import (
    Compare,
    Expression,
    Failure,
    Filtered,
    Logic,
    Namespace,
    Not,
    Reference,
    Value,
    parse,
    parse_condition,
)

_TEMP = re.compile(r"\{\{(?:CHECKREIN|AUTOSKILLIT)_TEMP\}\}")
_FALSE = frozenset(("", "false", "0", "no", "off"))
_ON = frozenset(("true", "1", "yes", "on"))
_NUMBER = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?\Z", re.ASCII)
_DEPTH_LIMIT = 100


class Scope(Struct, frozen=True, kw_only=True):
    """What the names stand for. `optional` are names of the context that may be missing: they are then None.
    `temp` is the directory that `{{CHECKREIN_TEMP}}` stands for, in texts and in inputs: defaults hold it."""

    inputs: Mapping[str, Any] = {}
    context: Mapping[str, Any] = {}
    result: Mapping[str, Any] = {}
    campaign: Mapping[str, Any] = {}
    optional: frozenset[str] = frozenset()
    temp: str | None = None

    def names(self, namespace: Namespace) -> Mapping[str, Any]:
        found: Mapping[str, Any] = getattr(self, namespace)
        return found


def render(value: Any, scope: Scope) -> Any | Failure:
    """The value with all its expressions replaced; the first Failure ends it.

    A text that is one expression takes that expression's value with its type; every other text stays a text.
    """
    return _render(value, scope, "", 0)


def holds(condition: str, scope: Scope) -> bool | Failure:
    """Whether a `when` is true."""
    expression = parse_condition(condition)
    if isinstance(expression, Failure):
        return expression
    found = _value(expression, scope)
    return replace(found, expression=condition) if isinstance(found, Failure) else truthy(found)


def truthy(value: Any) -> bool:
    """False are: nothing, an empty text, list or mapping, 0, and the words false, no and off."""
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE
    return bool(value)


def is_on(value: Any) -> bool:
    """Whether the value of a gate lets its sub-recipe in: true, 1, yes or on."""
    return text_of(value).strip().lower() in _ON


def text_of(value: Any) -> str:
    """A value inside a text. Lists and mappings are JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError):
        return repr(type(value))


def _render(value: Any, scope: Scope, where: str, depth: int) -> Any | Failure:
    if isinstance(value, str):
        return _render_text(value, scope, where)
    if depth > _DEPTH_LIMIT:
        return Failure(kind="type", expression="", message="the value is nested too deeply", where=where)
    if isinstance(value, Mapping):
        members: dict[Any, Any] = {}
        for name, item in value.items():
            found = _render(item, scope, f"{where}.{name}" if where else str(name), depth + 1)
            if isinstance(found, Failure):
                return found
            members[name] = found
        return members
    if isinstance(value, (list, tuple)):
        items: list[Any] = []
        for number, item in enumerate(value):
            found = _render(item, scope, f"{where}[{number}]", depth + 1)
            if isinstance(found, Failure):
                return found
            items.append(found)
        return items
    return value


def _render_text(text: str, scope: Scope, where: str) -> Any | Failure:
    template = parse(text)
    if isinstance(template, Failure):
        return replace(template, where=where)
    values: list[Any] = []
    sources = iter(template.sources)
    for part in template.parts:
        if isinstance(part, str):
            values.append(_with_temp(part, scope))
            continue
        source = next(sources)
        found = _value(part, scope)
        if isinstance(found, Failure):
            return replace(found, expression=source, where=where)
        values.append(found)
    if len(values) == 1 and not isinstance(template.parts[0], str):
        return values[0]
    return "".join(text_of(value) for value in values)


def _with_temp(text: str, scope: Scope) -> str:
    temp = scope.temp
    return text if temp is None else _TEMP.sub(lambda _: temp, text)


def _value(expression: Expression, scope: Scope) -> Any | Failure:
    match expression:
        case Value(text, is_bare):
            return {"true": True, "false": False}.get(text.lower(), text) if is_bare else text
        case Reference():
            return _look_up(expression, scope)
        case Filtered(operand, name):
            found = _value(operand, scope)
            return found if isinstance(found, Failure) else _filtered(text_of(found), name)
        case Not(operand):
            found = _value(operand, scope)
            return found if isinstance(found, Failure) else not truthy(found)
        case Logic(operator, operands):
            for operand in operands:
                found = _value(operand, scope)
                if isinstance(found, Failure):
                    return found
                if truthy(found) == (operator == "or"):
                    return operator == "or"
            return operator == "and"
        case Compare():
            return _compare(expression, scope)


def _look_up(reference: Reference, scope: Scope) -> Any | Failure:
    names = scope.names(reference.namespace)
    if reference.name not in names:
        if reference.namespace == "context" and reference.name in scope.optional:
            return None
        message = f"`{reference.namespace}.{reference.name}` has no value"
        return Failure(kind="missing", expression=str(reference), message=message)
    found = names[reference.name]
    if reference.namespace == "inputs" and isinstance(found, str):
        found = _with_temp(found, scope)
    for number, step in enumerate(reference.path):
        if isinstance(found, Mapping) and str(step) in found:
            found = found[str(step)]
        elif isinstance(found, (list, tuple)) and str(step).isdigit() and int(step) < len(found):
            found = found[int(step)]
        else:
            so_far = Reference(reference.namespace, reference.name, reference.path[:number])
            message = f"`{so_far}` has no member `{step}`"
            return Failure(kind="missing", expression=str(reference), message=message)
    return found


def _filtered(text: str, name: str) -> str:
    if name == "trim":
        return text.strip()
    import shlex

    return shlex.quote(text)


def _compare(comparison: Compare, scope: Scope) -> bool | Failure:
    left = _value(comparison.left, scope)
    if isinstance(left, Failure):
        return left
    right = _value(comparison.right, scope)
    if isinstance(right, Failure):
        return right
    operator = comparison.operator
    if operator in ("==", "!="):
        return _is_equal(left, right, comparison) == (operator == "==")
    first, second = _number(left), _number(right)
    if first is None or second is None:
        wrong = text_of(left if first is None else right)
        message = f"`{operator}` compares numbers, and `{wrong[:80]}` is none"
        return Failure(kind="type", expression="", message=message)
    if operator == ">":
        return first > second
    if operator == "<":
        return first < second
    return first >= second if operator == ">=" else first <= second


def _is_equal(left: Any, right: Any, comparison: Compare) -> bool:
    numbers = _number(left), _number(right)
    is_numeric = _is_number(left, comparison.left) or _is_number(right, comparison.right)
    if is_numeric and None not in numbers:
        return numbers[0] == numbers[1]
    texts = text_of(left), text_of(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return texts[0].strip().lower() == texts[1].strip().lower()
    return texts[0] == texts[1]


def _is_number(value: Any, written: Expression) -> bool:
    """Whether a side is a number by its type, or a bare number in the file."""
    if isinstance(written, Value):
        return written.is_bare and _number(value) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: Any) -> float | int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, str) and _NUMBER.match(value.strip()):
        text = value.strip()
        return float(text) if "." in text else int(text)
    return None
