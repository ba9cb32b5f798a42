"""Pydantic models from the data shapes in a spec."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from checkrein.compile.judgment import Judgment
from checkrein.compile.literals import LINE, one_line
from checkrein.compile.names import Unique, class_name, identifier
from checkrein.compile.pieces import Piece
from checkrein.compile.shapes.read import JSON, read_shapes
from checkrein.compile.shapes.tree import (
    ANY,
    Choice,
    Either,
    ListOf,
    MapOf,
    Object,
    Plain,
    Shape,
    Shapes,
    without_nothing,
)
from checkrein.compile.values import Element

RESERVED = frozenset(
    {"StepRecord", "SkillResult", "Decision", "Verdict", "BaseModel", "Field", "Any", "Literal", "SHAPES"}
    | {"ProcedureChoice", "ProcedureName"}
)
_MEMBERS = frozenset({"model", "schema", "json", "copy", "dict", "construct", "validate", "fields", "config"})
_ENDINGS = ("Output", "Report", "Result", "Response")
_LONG = 60
_NAME = 40


class Field(Struct, frozen=True):
    """`annotation` holds `| None` where the field is not required."""

    name: str
    alias: str | None
    annotation: str
    required: bool
    about: str = ""


class Alias(Struct, frozen=True):
    """A type with its own name, since it is too long for the line of a field."""

    name: str
    text: str


class Model(Struct, frozen=True):
    """`aliases` come before it; inner models too. With `checks` its fields are truth values. `layout` gives
    the line that each field of a report is written below."""

    name: str
    fields: tuple[Field, ...]
    aliases: tuple[Alias, ...] = ()
    about: str = "A shape that the spec gives."
    checks: bool = False
    layout: tuple[tuple[str, str], ...] = ()


def shapes_of(element: Element) -> Shapes | None:
    """What a SCHEMA element describes; None when its text is in no known notation."""
    return read_shapes(element.content_full, element.prose.language or "", element.heading)


def model_name(element: Element) -> str | None:
    """The name of the model that an element describes: its own, or that of the heading above."""
    shapes = shapes_of(element)
    if shapes is None:
        return None
    if shapes.main.name:
        return _class(shapes.main.name, "Output")
    title = class_name(element.heading, "Output")
    return title if title.endswith(_ENDINGS) else f"{title}Shape"


def collect_models(described: Iterable[tuple[Element, str]]) -> tuple[Model, ...]:
    """The models of all elements, inner ones first; each with its name from the mapping."""
    listed = [(shapes, name) for element, name in described if (shapes := shapes_of(element)) is not None]
    writer = _Writer(frozenset(name for _, name in listed))
    for shapes, name in listed:
        for other in shapes.others:
            writer.add(other, writer.unique.take(_class(other.name, "Part")))
        writer.add(shapes.main, name)
    return tuple(writer.models)


def shaped(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Make the tag of each piece agree with its content: a shape is a SCHEMA only when it can be read as one,
    and so is a table of fields under a heading on output. JSON stays: it is a sample of the output."""
    steps: list[range] = []
    for piece in pieces:
        if piece.step:
            steps.append(range(piece.start, piece.end + 1))
        block = piece.block
        if block is None or piece.step:
            yield piece
        elif piece.judgment.tag == "SCHEMA" and block.language not in JSON:
            if read_shapes(piece.text, block.language, piece.heading) is not None:
                yield piece
            elif not any(piece.start in lines for lines in steps):
                yield replace(piece, judgment=Judgment("CONFIG", "C3", "constant", 0.7, "sample code"))
        elif block.kind == "table" and piece.judgment.tag == "DETERMINISTIC" and _is_output(block.path):
            if read_shapes(piece.text, "", piece.heading) is not None:
                piece = replace(piece, judgment=Judgment("SCHEMA", "—", "schema", 0.8, "a table of fields"))
            yield piece
        else:
            yield piece


def _is_output(path: tuple[str, ...]) -> bool:
    from checkrein.compile.headings import roles_above

    return "output" in roles_above(path[-2:])


def _class(name: str, fallback: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return class_name(spaced, fallback)[:_NAME]


class _Writer:
    """Writes objects as models. A declared object is written once, however often it is used."""

    def __init__(self, mains: frozenset[str]) -> None:
        self.unique = Unique(RESERVED | mains)
        self.models: list[Model] = []
        self.known: dict[Object, str] = {}

    def add(self, shape: Object, name: str) -> str:
        aliases: list[Alias] = []
        used: set[str] = set()
        fields = tuple(
            self._field(member.key, member.shape, member.required, name, used, aliases)
            for member in shape.members
        )
        self.models.append(Model(name, fields, tuple(aliases)))
        return name

    def _field(
        self, key: str, shape: Shape, required: bool, owner: str, used: set[str], aliases: list[Alias]
    ) -> Field:
        name = _field_name(key, used)
        bare, nothing = without_nothing(shape)
        annotation = self._annotation(bare, owner, key, aliases)
        if len(name) + _width(annotation) + 24 > LINE:
            annotation = self._alias(annotation, owner, key, aliases)
        if (nothing or not required) and annotation != "None":
            annotation += " | None"
        return Field(name, None if name == key else key, annotation, required)

    def _annotation(self, shape: Shape, owner: str, key: str, aliases: list[Alias]) -> str:
        if isinstance(shape, Plain):
            return shape.name
        if isinstance(shape, Choice):
            text = f"Literal[{', '.join(map(one_line, shape.values))}]"
            if _width(text) <= _LONG or len(shape.values) < 2:
                return text
            lines = "".join(f"    {one_line(value)},\n" for value in shape.values)
            return self._named(f"Literal[\n{lines}]", owner, key, aliases)
        if isinstance(shape, ListOf):
            return f"list[{self._annotation(shape.item, owner, key, aliases)}]"
        if isinstance(shape, MapOf):
            return f"dict[str, {self._annotation(shape.value, owner, key, aliases)}]"
        if isinstance(shape, Either):
            parts = [self._annotation(one, owner, key, aliases) for one in shape.options]
            ordered = dict.fromkeys(sorted(parts, key=lambda part: part == "None"))
            return " | ".join(ordered)
        if isinstance(shape, Object):
            return self._inner(shape, owner, key)
        return ANY.name

    def _inner(self, shape: Object, owner: str, key: str) -> str:
        if shape in self.known:
            return self.known[shape]
        part = _class(key, "Part")
        whole = f"{owner}{part}"
        wanted = _class(shape.name, "Part") if shape.name else whole if len(whole) <= _NAME else part
        name = self.unique.take(wanted)
        if shape.name:
            self.known[shape] = name
        return self.add(shape, name)

    def _alias(self, annotation: str, owner: str, key: str, aliases: list[Alias]) -> str:
        return (
            self._named(annotation, owner, key, aliases) if _width(annotation) + _NAME + 10 < LINE else "Any"
        )

    def _named(self, text: str, owner: str, key: str, aliases: list[Alias]) -> str:
        name = self.unique.take(f"{_class(key, 'Field')[:30]}Value")
        aliases.append(Alias(name, text))
        return name


def _width(text: str) -> int:
    """The columns of a text: characters of other scripts may take two."""
    return len(text) if text.isascii() else sum(1 if char < "\u1100" else 2 for char in text)


def field_of(key: str, annotation: str, required: bool, used: set[str], about: str = "") -> Field:
    """A field with a safe name for a pydantic model; the key is its alias when the two differ."""
    name = _field_name(key, used)
    return Field(name, None if name == key else key, annotation, required, about)


def _field_name(key: str, used: set[str]) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key)
    name = identifier(spaced, "field", 8)
    if name in _MEMBERS or name.startswith("model_"):
        name = f"field_{name}"
    base, number = name, 2
    while name in used:
        name = f"{base}_{number}"
        number += 1
    used.add(name)
    return name
