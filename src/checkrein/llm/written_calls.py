"""Calls of tools that a model wrote into its text, in the forms of the open models.

A text counts only when it is nothing but calls of offered tools: what a model says about a call is no call.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from msgspec import Struct

from checkrein.base.later import later
from checkrein.llm.bodies import encode_json
from checkrein.llm.values import loads

FENCES = ("", "json", "tool", "tool_call", "tool_code")
TAGS = ("tool_call", "tool_calls", "tools", "function_call", "tool", "function")
LONGEST = 256 * 1024

_FENCED = later(r"```([\w-]*)[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_TAGGED = later(r"<(tool_calls?|tools|function_call|tool)>\s*(.*?)\s*(?:</\1>|\Z)", re.DOTALL)
_FUNCTION = later(r"<function=([\w.:-]+)>\s*(.*?)\s*(?:</function>|\Z)", re.DOTALL)
_PARAMETER = later(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_LISTED = later(r"(?:\[TOOL_CALLS\]|<\|python_tag\|>)\s*")
_START = later(r"[\[{<`]")


class WrittenCall(Struct, frozen=True):
    """`arguments` is JSON text of an object."""

    name: str
    arguments: str


def may_be_calls(text: str) -> bool:
    """Whether a text that begins like this can still turn out to be calls and nothing else."""
    text = text.lstrip()
    if not text:
        return True
    if len(text) > LONGEST or _START.match(text) is None:
        return False
    if text.startswith("`"):
        info, newline, _ = text.removeprefix("```").partition("\n")
        if not text.startswith("```"):
            return "```".startswith(text)
        return info.strip() in FENCES if newline else any(name.startswith(info.strip()) for name in FENCES)
    if text.startswith("<"):
        openings = [f"<{tag}>" for tag in TAGS] + ["<function=", "<|python_tag|>"]
        return any(text.startswith(opening) or opening.startswith(text) for opening in openings)
    return True


def written_calls(text: str, offered: Collection[str]) -> tuple[WrittenCall, ...]:
    """The calls that the text consists of; none when there is anything else in it, or an unknown tool."""
    text = text.strip()
    if not text or not may_be_calls(text):
        return ()
    calls = _calls(text)
    return tuple(calls) if calls and all(call.name in offered for call in calls) else ()


def _calls(text: str) -> list[WrittenCall]:
    lead = _LISTED.match(text)
    if lead is not None:
        return _of_value(loads(text[lead.end() :]))
    for pattern in (_FENCED, _TAGGED):
        found = list(pattern.finditer(text))
        if found and not pattern.sub("", text).strip():
            parts = [_inner(match[1], match[2]) for match in found]
            return [call for part in parts for call in part] if all(parts) else []
    found = list(_FUNCTION.finditer(text))
    if found and not _FUNCTION.sub("", text).strip():
        calls = [_of_function(match[1], match[2]) for match in found]
        return [call for call in calls if call is not None] if all(calls) else []
    return _of_value(loads(text))


def _inner(kind: str, text: str) -> list[WrittenCall]:
    if text.lstrip().startswith("<"):
        return _calls(text.strip())
    if kind in FENCES or kind in TAGS:
        return _of_value(loads(text)) or _of_lines(text)
    return []


def _of_lines(text: str) -> list[WrittenCall]:
    """One call on each line."""
    parts = [_of_value(loads(line)) for line in text.splitlines() if line.strip()]
    return [call for part in parts for call in part] if all(parts) else []


def _of_value(value: Any) -> list[WrittenCall]:
    if isinstance(value, list):
        parts = [_of_value(one) for one in value]
        return [call for part in parts for call in part] if all(parts) else []
    if not isinstance(value, dict):
        return []
    if set(value) == {"tool_calls"}:
        return _of_value(value["tool_calls"])
    inner = value.get("function")
    if isinstance(inner, dict):
        return _of_value(inner)
    name = next((value[key] for key in ("name", "tool", "function") if isinstance(value.get(key), str)), None)
    given = [key for key in ("arguments", "parameters", "input", "args") if key in value]
    if name is None or len(given) != 1 or set(value) - {"name", "tool", "function", "id", "type", *given}:
        return []
    arguments = value[given[0]]
    if isinstance(arguments, str):
        arguments = loads(arguments)
    return [WrittenCall(name, encode_json(arguments).decode())] if isinstance(arguments, dict) else []


def _of_function(name: str, body: str) -> WrittenCall | None:
    """`<function=NAME>` with JSON in it, or with a `<parameter=KEY>` for each argument."""
    if body.startswith("{"):
        arguments = loads(body)
        return WrittenCall(name, encode_json(arguments).decode()) if isinstance(arguments, dict) else None
    if _PARAMETER.sub("", body).strip():
        return None
    values = {match[1]: _scalar(match[2]) for match in _PARAMETER.finditer(body)}
    return WrittenCall(name, encode_json(values).decode())


def _scalar(text: str) -> Any:
    """Numbers, truth values and structures are JSON; all else is text."""
    value = loads(text)
    return text if value is None or isinstance(value, str) else value
