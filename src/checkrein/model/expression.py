"""The expressions of recipes: `${{ inputs.task | trim }}` in a text, `${{ result.state }} == go` in a `when`.

Grammar, weakest first: `or`, `and`, `not`, one comparison (`==` `!=` `>` `<` `>=` `<=`), filters (`| trim`),
then a reference, a literal or a group. A literal is quoted or bare words. References in a condition stand
with or without `${{ }}`. `$${{` in a text is a plain `${{`.

`parse` and `parse_condition` are total: a text that is no expression is a Failure. Values are in
`checkrein.model.expression_value`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, get_args

from msgspec import Struct

Namespace = Literal["inputs", "context", "result", "campaign"]
NAMESPACES: tuple[Namespace, ...] = get_args(Namespace)
Comparison = Literal["==", "!=", ">", "<", ">=", "<="]
Filter = Literal["trim", "quote"]
FILTERS: tuple[Filter, ...] = get_args(Filter)
"""`trim` removes blanks at both ends; `quote` makes one word of a shell command."""

_DEPTH_LIMIT = 40
_LENGTH_LIMIT = 4000
_SHOWN = 200
_OPEN, _CLOSE = "${{", "}}"
_TOKEN = re.compile(
    r"""
      (?P<open>\$\{\{) | (?P<close>\}\}) | (?P<paren>[()])
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*") | (?P<unclosed>['"].*)
    | (?P<op>==|!=|>=|<=|>|<) | (?P<pipe>\|)
    | (?P<word>(?:(?!\}\})[^\s()'"=!<>|])+)
    | (?P<other>\S)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Blanks match nothing, so a search passes over them."""
_REFERENCE = re.compile(r"(inputs|context|result|campaign)\.([\w-]+)((?:\.[\w-]+|\[\d+\])*)\Z", re.ASCII)
_PATH = re.compile(r"\.([\w-]+)|\[(\d+)\]", re.ASCII)
_ESCAPE = re.compile(r"\\(['\"\\])")
_KEYWORDS = ("and", "or", "not")


class Failure(Struct, frozen=True, kw_only=True):
    """Why an expression has no value. `where` is the place inside the rendered value: `with.cmd`, `[2]`."""

    kind: Literal["syntax", "missing", "type"]
    expression: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        place = f" in `{self.where}`" if self.where else ""
        said = self.expression if len(self.expression) <= _SHOWN else self.expression[:_SHOWN] + "…"
        return f"`{said}`{place}: {self.message}"


class Reference(Struct, frozen=True):
    """`context.plan.files[0]`: namespace, name, and the way further into the value."""

    namespace: Namespace
    name: str
    path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        steps = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in self.path)
        return f"{self.namespace}.{self.name}{steps}"


class Value(Struct, frozen=True):
    """A literal; `is_bare` when it has no quotes."""

    text: str
    is_bare: bool


class Filtered(Struct, frozen=True):
    operand: Expression
    filter: Filter


class Not(Struct, frozen=True):
    operand: Expression


class Compare(Struct, frozen=True):
    operator: Comparison
    left: Expression
    right: Expression


class Logic(Struct, frozen=True):
    operator: Literal["and", "or"]
    operands: tuple[Expression, ...]


Expression = Reference | Value | Filtered | Not | Compare | Logic


class Template(Struct, frozen=True):
    """A text in parts. `sources` are the expressions as written, for messages."""

    parts: tuple[str | Expression, ...]
    sources: tuple[str, ...] = ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(part for part in self.parts if not isinstance(part, str))


class _SyntaxError(Exception):
    pass


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > _LENGTH_LIMIT:
            raise _SyntaxError(f"it is longer than {_LENGTH_LIMIT} characters")
        self.tokens = [
            (str(match.lastgroup), match.group(str(match.lastgroup)))
            for match in _TOKEN.finditer(text.strip())
        ]
        self.at = 0
        self.depth = 0

    def whole(self) -> Expression:
        if not self.tokens:
            raise _SyntaxError("it is empty")
        found = self.logic("or")
        if self.at < len(self.tokens):
            raise _SyntaxError(f"`{self.tokens[self.at][1]}` is not expected here")
        self.require_value(found)
        return found

    def require_value(self, found: Expression) -> None:
        """Bare words alone are no condition and no value, except for true, false and numbers."""
        if isinstance(found, Logic):
            for operand in found.operands:
                self.require_value(operand)
        elif isinstance(found, (Not, Filtered)):
            self.require_value(found.operand)
        elif isinstance(found, Value) and found.is_bare and not _is_plain(found.text):
            known = ", ".join(f"`{one}.`" for one in NAMESPACES)
            raise _SyntaxError(f"`{found.text}` refers to nothing; a reference begins with {known}")

    def logic(self, operator: Literal["and", "or"]) -> Expression:
        operands = [self.below(operator)]
        while self.take("word", operator):
            operands.append(self.below(operator))
        return operands[0] if len(operands) == 1 else Logic(operator, tuple(operands))

    def below(self, operator: Literal["and", "or"]) -> Expression:
        return self.logic("and") if operator == "or" else self.negation()

    def negation(self) -> Expression:
        if not self.take("word", "not"):
            return self.comparison()
        self.descend()
        found = Not(self.negation())
        self.depth -= 1
        return found

    def comparison(self) -> Expression:
        left = self.filtered()
        kind, text = self.peek()
        if kind != "op":
            return left
        self.at += 1
        return Compare(_operator(text), left, self.filtered())

    def filtered(self) -> Expression:
        found = self.primary()
        while self.take("pipe"):
            name = self.next("word", "the name of a filter")
            chosen = next((one for one in FILTERS if one == name), None)
            if chosen is None:
                raise _SyntaxError(f"`{name}` is no filter; known: {', '.join(FILTERS)}")
            found = Filtered(found, chosen)
        return found

    def primary(self) -> Expression:
        kind, text = self.peek()
        if kind == "text":
            self.at += 1
            return Value(_ESCAPE.sub(r"\1", text[1:-1]), False)
        if kind == "word" and text not in _KEYWORDS:
            return self.words()
        if kind == "open" or text == "(":
            self.at += 1
            self.descend()
            found = self.logic("or")
            self.depth -= 1
            closing = _CLOSE if kind == "open" else ")"
            if self.peek()[1] != closing:
                raise _SyntaxError(f"`{closing}` is missing")
            self.at += 1
            return found
        if kind == "unclosed":
            raise _SyntaxError(f"the quote {text[:1]} is never closed")
        raise _SyntaxError(f"`{text}` is not expected here" if text else "it ends too early")

    def words(self) -> Expression:
        first = self.next("word", "a word")
        reference = _reference(first)
        if reference is not None:
            return reference
        words = [first]
        while self.peek()[0] == "word" and self.peek()[1] not in _KEYWORDS:
            words.append(self.next("word", "a word"))
        return Value(" ".join(words), True)

    def descend(self) -> None:
        self.depth += 1
        if self.depth > _DEPTH_LIMIT:
            raise _SyntaxError(f"it is nested more than {_DEPTH_LIMIT} levels deep")

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, kind: str, text: str | None = None) -> bool:
        found = self.peek()
        if found[0] != kind or text not in (None, found[1]):
            return False
        self.at += 1
        return True

    def next(self, kind: str, meant: str) -> str:
        found = self.peek()
        if found[0] != kind:
            raise _SyntaxError(f"{meant} is missing")
        self.at += 1
        return found[1]


@lru_cache(maxsize=2048)
def parse_condition(text: str) -> Expression | Failure:
    """The expression of a `when`."""
    try:
        return _Parser(text).whole()
    except _SyntaxError as error:
        return Failure(kind="syntax", expression=text, message=str(error))


@lru_cache(maxsize=2048)
def parse(text: str) -> Template | Failure:
    """A text with `${{ }}` in it. A text without is one part."""
    parts: list[str | Expression] = []
    sources: list[str] = []
    at = 0
    while (start := text.find(_OPEN, at)) >= 0:
        if start and text[start - 1] == "$":
            _append(parts, text[at : start - 1] + _OPEN)
            at = start + len(_OPEN)
            continue
        end = text.find(_CLOSE, start)
        source = text[start : end + len(_CLOSE)] if end >= 0 else text[start:]
        if end < 0:
            return Failure(kind="syntax", expression=source, message="`}}` is missing")
        _append(parts, text[at:start])
        try:
            parts.append(_Parser(source[len(_OPEN) : -len(_CLOSE)]).whole())
        except _SyntaxError as error:
            return Failure(kind="syntax", expression=source, message=str(error))
        sources.append(source)
        at = end + len(_CLOSE)
    _append(parts, text[at:])
    return Template(tuple(parts), tuple(sources))


def references(text: str) -> tuple[Reference, ...]:
    """The references of a text, in order. A text that is no template has those of its whole expressions."""
    found = parse(text)
    if isinstance(found, Template):
        return tuple(reference for one in found.expressions for reference in _of(one))
    wholes = (one for one in map(parse, _pieces(text)) if isinstance(one, Template))
    return tuple(reference for one in wholes for part in one.expressions for reference in _of(part))


def _pieces(text: str) -> Iterator[str]:
    """Everything between `${{` and the next `}}`, with both."""
    start = text.find(_OPEN)
    while start >= 0 and (end := text.find(_CLOSE, start)) >= 0:
        yield text[start : end + len(_CLOSE)]
        start = text.find(_OPEN, end)


def condition_references(text: str) -> tuple[Reference, ...]:
    found = parse_condition(text)
    return references(text) if isinstance(found, Failure) else tuple(_of(found))


def texts_in(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value with its place in it: `cmd`, `list[2]`."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from texts_in(item, f"{where}.{name}" if where else str(name))
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from texts_in(item, f"{where}[{number}]")


def references_in(value: Any) -> tuple[Reference, ...]:
    """The references of all texts in a value."""
    return tuple(reference for _, text in texts_in(value) for reference in references(text))


def equals(reference: str, value: str) -> str:
    """The condition that a reference has this value."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"{_OPEN} {reference} {_CLOSE} == '{escaped}'"


def _of(expression: Expression) -> Iterator[Reference]:
    match expression:
        case Reference():
            yield expression
        case Filtered() | Not():
            yield from _of(expression.operand)
        case Compare():
            yield from _of(expression.left)
            yield from _of(expression.right)
        case Logic():
            for operand in expression.operands:
                yield from _of(operand)


def _append(parts: list[str | Expression], text: str) -> None:
    if text and parts and isinstance(parts[-1], str):
        parts[-1] += text
    elif text:
        parts.append(text)


def _reference(word: str) -> Reference | None:
    match = _REFERENCE.match(word)
    if match is None:
        return None
    namespace = next(one for one in NAMESPACES if one == match[1])
    path = tuple(name or int(number) for name, number in _PATH.findall(match[3]))
    return Reference(namespace, match[2], path)


def _operator(text: str) -> Comparison:
    return next(one for one in get_args(Comparison) if one == text)


def _is_plain(word: str) -> bool:
    return word.lower() in ("true", "false") or re.fullmatch(r"-?\d+(\.\d+)?", word) is not None
