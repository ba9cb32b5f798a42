"""A tool of the kitchen as the session calls it: a function, whose signature is the schema of its input."""

from __future__ import annotations

import inspect
import json
import time
import types as pytypes
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from checkrein.base.harmless import one_line
from checkrein.base.nearest import did_you_mean
from checkrein.facts.kitchen import kitchen_tools
from checkrein.policy.effects import Use
from checkrein.policy.tools import Meaning
from checkrein.runtime.tools.port import ToolContext, ToolDeclaration, ToolFailure, ToolOutput
from checkrein.serve.mcp.shift import Step, tokens

if TYPE_CHECKING:
    from checkrein.serve.mcp.hands import Hands, Work

_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


class KitchenTool:
    """Its own call needs no approval, unless it `asks`: what it does to the world are calls of its own,
    judged one by one. A rule that names it holds all the same."""

    eager = True
    aliases = ()

    def __init__(
        self,
        name: str,
        work: Work,
        hands: Callable[[ToolContext], Hands],
        *,
        reads: bool,
        asks: bool = False,
    ) -> None:
        self.name = name
        self.asks = asks
        self.read_only = reads
        self._work = work
        self._hands = hands

    @cached_property
    def meaning(self) -> Meaning:
        return Meaning(
            name=self.name,
            effects=lambda _: (Use(self.name),),
            fields=tuple(self.declaration.schema["properties"]),
            free=not self.asks,
        )

    @cached_property
    def declaration(self) -> ToolDeclaration:
        return ToolDeclaration(
            name=self.name,
            schema=schema(self._work),
            description=kitchen_tools()[self.name].summary,
            read_only=self.read_only,
            eager=True,
        )

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        known = self.declaration.schema["properties"]
        unknown = next((name for name in input if name not in known), None)
        if unknown is not None:
            text = f"{self.name} has no argument {one_line(unknown)[:100]!r}.{did_you_mean(unknown, known)}"
            raise ToolFailure(text)
        hands, began = self._hands(context), time.monotonic()
        failure: str | None = None
        try:
            answer = self._work(hands, **input)
        except ToolFailure as error:
            failure = error.message
            answer = {"success": False, "error": error.message, **(error.structured or {})}
        text = json.dumps(context.cover.value(answer), ensure_ascii=False)
        hands.shift.note(
            Step(
                step=str(input.get("step_name") or self.name),
                tool=self.name,
                seconds=round(time.monotonic() - began, 3),
                tokens=tokens(text),
                order=str(input.get("order_id") or ""),
                failure=failure or _failure(answer),
            )
        )
        return ToolOutput(content=text, structured=json.loads(text), is_error=failure is not None)


def _failure(answer: dict[str, Any]) -> str | None:
    """A result that says no is a failure of the step, though the call itself worked."""
    if answer.get("success") is False or answer.get("passed") is False or "failed_step" in answer:
        return str(
            answer.get("error") or answer.get("failed_step") or answer.get("problem") or "it did not succeed"
        )
    return None


def schema(work: Work) -> dict[str, Any]:
    """The schema of a function's named arguments, after the first."""
    hints = get_type_hints(work)
    parameters = list(inspect.signature(work).parameters.values())[1:]
    properties: dict[str, Any] = {}
    for one in parameters:
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            fields = get_type_hints(get_args(hints[one.name])[0])
            properties |= {name: _type(hint) for name, hint in fields.items()}
            continue
        properties[one.name] = _type(hints[one.name])
        if one.default is not inspect.Parameter.empty and one.default is not None:
            properties[one.name]["default"] = one.default
    return {
        "type": "object",
        "properties": properties,
        "required": [one.name for one in parameters if _is_required(one)],
        "additionalProperties": False,
    }


def _is_required(one: inspect.Parameter) -> bool:
    return one.default is inspect.Parameter.empty and one.kind is not inspect.Parameter.VAR_KEYWORD


def _type(hint: Any) -> dict[str, Any]:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    if origin is list:
        return {"type": "array", "items": _type(parts[0]) if parts else {}}
    if origin in (Union, pytypes.UnionType):
        rest = [one for one in parts if one is not type(None)]
        return _type(rest[0]) if len(rest) == 1 else {"anyOf": [_type(one) for one in rest]}
    return {"type": "object"} if origin is dict or hint is dict else {}
