"""JSON with the place of every value.

Values come from msgspec's decoder, which accepts only strict JSON; places come from one pass over the tokens.
A path looks like `$.permissions.deny[2]`; a key that is not a plain word like `$["my key"]`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from msgspec import DecodeError, Struct
from msgspec.json import decode as decode_json

from checkrein.base.origin import Span

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")


class Json(Struct, frozen=True):
    """A decoded document. `spans` maps each path to the value's place (for a member: key and value)."""

    value: Any
    spans: dict[str, Span]
    duplicates: tuple[str, ...] = ()


class JsonError(Struct, frozen=True):
    message: str
    span: Span


def join(path: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    if _WORD.fullmatch(key):
        return f"{path}.{key}"
    import json

    return f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def decode(text: str) -> Json | JsonError:
    try:
        value = decode_json(text)
    except (DecodeError, RecursionError, ValueError) as error:
        return _explain(text, error)
    spans, duplicates = _locate(text)
    return Json(value, spans, duplicates)


def _explain(text: str, refusal: Exception) -> JsonError:
    """Why the text is not JSON. The standard decoder names line and column when it refuses the text too."""
    import json

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return JsonError(error.msg, Span(error.lineno, error.colno))
    except RecursionError:
        return JsonError("is nested too deeply", Span(1))
    except ValueError as error:  # a number with thousands of digits
        return JsonError(str(error), Span(1))
    return JsonError(str(refusal), Span(1))


def _locate(text: str) -> tuple[dict[str, Span], tuple[str, ...]]:
    starts = line_starts(text)
    spans: dict[str, Span] = {}
    duplicates: list[str] = []
    # Each open container: its path, where its own span starts, and the next index or the pending key.
    stack: list[list[Any]] = []
    path, begin, key = "$", -1, None

    def close(end: int) -> None:
        spans[path] = _span_at(starts, begin, end)

    for match in _TOKEN.finditer(text):
        token, at, end = match[0], match.start(), match.end()
        first = token[0]
        if first in "]}":
            path, begin, _ = stack.pop()
            close(end)
            key = None
        elif first == ":":
            continue
        elif first == ",":
            if stack and stack[-1][2] is not None:
                stack[-1][2] += 1
        else:
            holder = stack[-1] if stack else None
            if holder is not None and holder[2] is None and key is None:
                key, begin = _text(token), at
                path = join(holder[0], key)
                if path in spans:
                    duplicates.append(path)
                continue
            if holder is None:
                path, begin = "$", at
            elif holder[2] is not None:
                path, begin = join(holder[0], holder[2]), at
            if first in "[{":
                stack.append([path, begin, 0 if first == "[" else None])
                key = None
            else:
                close(end)
                key = None
    return spans, tuple(duplicates)


def _text(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    import json

    return str(json.loads(token))


def line_starts(text: str) -> list[int]:
    starts = [0]
    starts.extend(match.end() for match in re.finditer("\n", text))
    return starts


def _span_at(starts: Sequence[int], begin: int, end: int) -> Span:
    line = bisect_right(starts, begin)
    last = bisect_right(starts, max(begin, end - 1))
    return Span(line, begin - starts[line - 1] + 1, last, end - starts[last - 1] + 1)
