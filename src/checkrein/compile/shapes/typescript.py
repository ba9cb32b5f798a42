"""Reads TypeScript declarations: interfaces, type aliases and enums, and nothing else."""

from __future__ import annotations

import re

from checkrein.compile.shapes.resolve import Resolver
from checkrein.compile.shapes.scan import scan
from checkrein.compile.shapes.tree import (
    ANY,
    NOTHING,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    Both,
    ListOf,
    MapOf,
    Member,
    Object,
    Ref,
    Shape,
    Shapes,
    UnfitError,
    choice,
    either,
    merged,
    roots,
)

MAX_NESTING = 40
_TOKEN = re.compile(
    r"""\s*(?://[^\n]*|/\*.*?\*/)"""
    r"""|\s*(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`$\\]*`)"""
    r"""|\s*(?P<number>-?\d+(?:\.\d+)?)(?![\w.])"""
    r"""|\s*(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)"""
    r"""|\s*(?P<mark>[{}\[\]()<>|&?:;,=])"""
    r"""|\s*(?P<end>$)""",
    re.DOTALL,
)
_NAMES: dict[str, Shape] = {
    **dict.fromkeys(("string", "Date", "URL", "bigint"), TEXT),
    "number": NUMBER,
    **dict.fromkeys(("boolean", "true", "false"), TRUTH),
    **dict.fromkeys(("null", "undefined", "void"), NOTHING),
    **dict.fromkeys(("any", "unknown"), ANY),
    **dict.fromkeys(("object", "Object"), MapOf(ANY)),
}
_LISTS = ("Array", "ReadonlyArray", "Set", "ReadonlySet")
_MAPS = ("Record", "Map", "ReadonlyMap")
_WRAPS = ("Readonly", "Required", "NonNullable", "Partial")
_OPERATORS = ("keyof", "typeof", "infer", "unique", "asserts", "new", "function", "abstract", "is")


def read_typescript(text: str) -> Shapes:
    """The declared objects. Raises UnfitError at the first thing that does not declare a type."""
    parser = _Parser(text)
    parser.file()
    return roots(Resolver(parser.declared).objects())


def read_type(text: str) -> Shape:
    """One type expression. Raises UnfitError."""
    parser = _Parser(text)
    found = parser.type(0)
    if parser.peek()[0] != "end":
        raise UnfitError
    return Resolver({}).shape(found)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = scan(_TOKEN, text)
        self.at = 0
        self.declared: dict[str, Shape] = {}

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self.at += 1
        return token

    def skip(self, *texts: str) -> bool:
        kind, text = self.peek()
        if kind in ("mark", "name") and text in texts:
            self.at += 1
            return True
        return False

    def need(self, text: str) -> None:
        if not self.skip(text):
            raise UnfitError

    def name(self) -> str:
        kind, text = self.take()
        if kind != "name":
            raise UnfitError
        return text

    def separated(self, end: str) -> bool:
        """Whether the list goes on: a comma, or its end."""
        if not self.skip(",") and self.peek() != ("mark", end):
            raise UnfitError
        return not self.skip(end)

    def file(self) -> None:
        while self.peek()[0] != "end":
            if self.skip(";"):
                continue
            while self.skip("export", "declare", "default", "const"):
                pass
            read = {"interface": self.interface, "type": self.alias, "enum": self.enum}.get(self.name())
            if read is None:
                raise UnfitError
            name = self.name()
            if self.skip("<"):
                self.parameters()
            self.declared[name] = read(name)

    def parameters(self) -> None:
        """`<T>` of a declaration: its type is unknown."""
        going = True
        while going:
            self.declared.setdefault(self.name(), ANY)
            for word in ("extends", "="):
                if self.skip(word):
                    self.type(1)
            going = self.separated(">")

    def interface(self, name: str) -> Shape:
        bases: list[Shape] = []
        while self.skip("extends", ","):
            bases.append(self.type(1))
        self.need("{")
        return _titled(Both((*bases, self.members(0))) if bases else self.members(0), name)

    def alias(self, name: str) -> Shape:
        self.need("=")
        return _titled(self.type(0), name)

    def enum(self, name: str) -> Shape:
        """A choice of its values; members without one, or with numbers, are numbers."""
        self.need("{")
        values: list[str] = []
        numbers = 0
        going = not self.skip("}")
        while going:
            if self.take()[0] not in ("name", "string"):
                raise UnfitError
            kind, text = self.take() if self.skip("=") else ("number", "")
            if kind == "string":
                values.append(_unquoted(text))
            elif kind == "number":
                numbers += 1
            else:
                raise UnfitError
            going = self.separated("}")
        if bool(values) == bool(numbers):
            raise UnfitError
        return choice(values) if values else WHOLE

    def type(self, depth: int) -> Shape:
        if depth > MAX_NESTING:
            raise UnfitError
        self.skip("|")
        options = [self.both(depth)]
        while self.skip("|"):
            options.append(self.both(depth))
        return either(options)

    def both(self, depth: int) -> Shape:
        self.skip("&")
        parts = [self.postfix(depth)]
        while self.skip("&"):
            parts.append(self.postfix(depth))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def postfix(self, depth: int) -> Shape:
        self.skip("readonly")
        found = self.primary(depth + 1)
        while self.peek() == ("mark", "["):
            self.at += 1
            self.need("]")
            found = ListOf(found)
        return found

    def primary(self, depth: int) -> Shape:
        kind, text = self.take()
        if kind == "string":
            return choice([_unquoted(text)])
        if kind == "number":
            return NUMBER if "." in text else WHOLE
        if kind == "name":
            return self.reference(text, depth)
        if text == "(":
            found = self.type(depth)
            self.need(")")
            return found
        if text == "{":
            return self.members(depth)
        if text == "[":
            items = self.listed("]", depth)
            return ListOf(either(items) if items else ANY)
        raise UnfitError

    def reference(self, name: str, depth: int) -> Shape:
        if name in _OPERATORS:
            raise UnfitError
        given = self.listed(">", depth) if self.skip("<") else []
        if name in _NAMES and not given:
            return _NAMES[name]
        if name in _LISTS:
            return ListOf(given[0] if given else ANY)
        if name in _MAPS:
            return MapOf(given[1] if len(given) == 2 else ANY)
        if name in _WRAPS and len(given) == 1:
            [only] = given
            return Ref(only.target, name == "Partial") if isinstance(only, Ref) else ANY
        return ANY if given else Ref(name)

    def listed(self, end: str, depth: int) -> list[Shape]:
        found: list[Shape] = []
        going = not self.skip(end)
        while going:
            found.append(self.type(depth))
            going = self.separated(end)
        return found

    def members(self, depth: int) -> Shape:
        """The members between braces; the opening one is already read."""
        found: list[Member] = []
        values: list[Shape] = []
        while not self.skip("}"):
            if self.peek()[1] == "readonly" and self.peek(1)[1] not in (":", "?"):
                self.at += 1
            kind, text = self.take()
            if (kind, text) == ("mark", "["):
                self.name()
                self.need(":")
                self.type(depth)
                self.need("]")
                self.need(":")
                values.append(self.type(depth))
            elif kind == "string" or (kind == "name" and "." not in text):
                optional = self.skip("?")
                self.need(":")
                key = _unquoted(text) if kind == "string" else text
                found.append(Member(key, self.type(depth), not optional))
            else:
                raise UnfitError
            self.skip(";", ",")
        return merged(found) if found else MapOf(either(values) if values else ANY)


def _titled(shape: Shape, name: str) -> Shape:
    if isinstance(shape, Object):
        return Object(shape.members, name)
    return Both(shape.parts, name) if isinstance(shape, Both) else shape
