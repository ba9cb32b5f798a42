"""JSON as people write it in a text: with comments, trailing commas, `...` and places to fill in."""

from __future__ import annotations

import json
import re
from typing import Any

from checkrein.compile.shapes.samples import Unknown
from checkrein.compile.shapes.scan import Token, scan
from checkrein.compile.shapes.tree import UnfitError

MAX_NESTING = 60
_TOKEN = re.compile(
    r"""\s*(?://[^\n]*|/\*.*?\*/|\#[^\n]*)"""
    r"""|\s*(?P<string>"(?:[^"\\\n]|\\.)*")"""
    r"""|\s*(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])"""
    r"""|\s*(?P<word>true|false|null)(?![\w])"""
    r"""|\s*(?P<key>[A-Za-z_$][\w$]*)(?=\s*:)"""
    r"""|\s*(?P<blank><[^<>\n"]{1,200}>)"""
    r"""|\s*(?P<rest>\.\.\.|…)"""
    r"""|\s*(?P<mark>[{}\[\],:])"""
    r"""|\s*(?P<end>$)""",
    re.DOTALL,
)
_WORDS = {"true": True, "false": False, "null": None}


def read_json(text: str) -> Any:
    """The value in `text`; a blank to fill in is an Unknown. Raises UnfitError for other text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    reader = _Reader(scan(_TOKEN, text))
    value = reader.value(0)
    if reader.take() != ("end", ""):
        raise UnfitError
    return value


class _Reader:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def take(self) -> tuple[str, str]:
        token = self.tokens[min(self.at, len(self.tokens) - 1)]
        self.at += 1
        return token

    def peek(self) -> tuple[str, str]:
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    def skip(self, mark: str) -> bool:
        if self.peek() == ("mark", mark):
            self.at += 1
            return True
        return False

    def value(self, depth: int) -> Any:
        if depth > MAX_NESTING:
            raise UnfitError
        kind, text = self.take()
        if kind == "string":
            return _string(text)
        if kind == "number":
            return _number(text)
        if kind == "word":
            return _WORDS[text]
        if kind in ("blank", "rest"):
            return Unknown()
        if (kind, text) == ("mark", "{"):
            return self.members(depth)
        if (kind, text) == ("mark", "["):
            return self.items(depth)
        raise UnfitError

    def members(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self.skip("}"):
            kind, text = self.take()
            if kind == "rest":
                self.skip(",")
                continue
            if kind not in ("string", "key") or not self.skip(":"):
                raise UnfitError
            found[_string(text) if kind == "string" else text] = self.value(depth + 1)
            if not self.skip(",") and self.peek() not in (("mark", "}"), ("rest", "..."), ("rest", "…")):
                raise UnfitError
        return found

    def items(self, depth: int) -> list[Any]:
        found: list[Any] = []
        while not self.skip("]"):
            if self.peek()[0] == "rest":
                self.take()
            else:
                found.append(self.value(depth + 1))
            if not self.skip(",") and self.peek() not in (("mark", "]"), ("rest", "..."), ("rest", "…")):
                raise UnfitError
        return found


def _number(text: str) -> int | float:
    try:
        return float(text) if set(text) & set(".eE") else int(text)
    except ValueError:  # more digits than Python reads
        raise UnfitError from None


def _string(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        raise UnfitError from None
