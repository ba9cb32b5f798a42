"""Markdown tables that list the fields of an output: a name, a type, whether it is required."""

from __future__ import annotations

import re

from checkrein.compile.shapes.tree import (
    ANY,
    ListOf,
    Member,
    Object,
    Shape,
    Shapes,
    UnfitError,
    merged,
    without_nothing,
)
from checkrein.compile.shapes.typescript import read_type
from checkrein.compile.shapes.words import alternatives, enumerated, named

_CELL = re.compile(r"(?<!\\)\|")
RULER = re.compile(r"^:?-+:?$")
_FIELD = re.compile(
    r"^(?:(?:json |output )?(?:field|key|property|attribute|member)s?)(?: name)?$", re.IGNORECASE
)
_TYPE = re.compile(r"^(?:data )?type$", re.IGNORECASE)
_REQUIRED = re.compile(r"^(?:is )?(required|mandatory|optional)\??$", re.IGNORECASE)
_YES = re.compile(r"^(?:yes|y|true|required|mandatory|always|✓|✔|✅|x)\b|^[✓✔✅]", re.IGNORECASE)
_PATH = re.compile(r"^[A-Za-z_$][\w$-]*(?:\[\])?(?:\.[A-Za-z_$][\w$-]*(?:\[\])?)*$")
_OPTIONAL = re.compile(r"\(?\boptional\b\)?[,;]?", re.IGNORECASE)


def is_field_table(text: str) -> bool:
    """Whether the head names a field and a type."""
    head = cells(text.lstrip().split("\n", 1)[0])
    return len(head) > 1 and _FIELD.match(head[0]) is not None and any(_TYPE.match(cell) for cell in head)


def read_table(text: str) -> Shapes:
    """The object that the rows describe. Raises UnfitError when a row is not a field."""
    rows = [cells(line) for line in text.strip().split("\n") if line.strip()]
    if len(rows) < 3 or not is_field_table(text) or not all(map(RULER.match, rows[1])):
        raise UnfitError
    head = rows[0]
    kind = next(at for at, cell in enumerate(head) if _TYPE.match(cell))
    needs = next((at for at, cell in enumerate(head) if _REQUIRED.match(cell)), None)
    found = _Fields()
    known = 0
    for row in rows[2:]:
        if len(row) != len(head):
            raise UnfitError
        name = row[0].strip("`*\"' ")
        optional = name.endswith("?")
        name = name.removesuffix("?")
        if not _PATH.match(name):
            raise UnfitError
        shape, maybe = _type(row[kind])
        known += shape != ANY
        required = not (optional or maybe)
        if needs is not None:
            yes = _YES.match(row[needs]) is not None
            required = yes if not head[needs].lower().startswith("optional") else not yes
        found.add(name, shape, required)
    if not known:
        raise UnfitError
    return Shapes(found.object())


def cells(line: str) -> list[str]:
    """The cells of a row; none for a line that is not a row."""
    stripped = line.strip()
    if not stripped.startswith("|"):
        return []
    inner = stripped[1:-1] if stripped.endswith("|") else stripped[1:]
    return [cell.replace("\\|", "|").strip() for cell in _CELL.split(inner)]


def _type(cell: str) -> tuple[Shape, bool]:
    """The type in a cell, and whether it says that the field may be missing."""
    bare = cell.replace("`", "").replace("*", "").strip()
    text = _OPTIONAL.sub("", bare).strip(" ,;()") if _OPTIONAL.search(bare) else bare
    maybe = text != bare or text.endswith("?")
    text = text.removesuffix("?")
    found = named(text) or enumerated(text) or alternatives(text)
    if found is None:
        try:
            found = read_type(text)
        except UnfitError:
            found = ANY
    shape, nothing = without_nothing(found)
    return (shape, True) if nothing and maybe else (found, maybe)


class _Fields:
    """Rows by the path of their names: `a.b` is a member of `a`, `a[].b` of the items of `a`."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[Shape, bool]] = {}
        self.inner: dict[str, _Fields] = {}
        self.lists: set[str] = set()

    def add(self, path: str, shape: Shape, required: bool) -> None:
        first, dot, rest = path.partition(".")
        name = first.removesuffix("[]")
        if name != first:
            self.lists.add(name)
        if dot:
            self.inner.setdefault(name, _Fields()).add(rest, shape, required)
        elif name in self.rows:
            raise UnfitError
        else:
            self.rows[name] = shape, required

    def object(self) -> Object:
        names = dict.fromkeys((*self.rows, *self.inner))
        return merged(self._member(name) for name in names)

    def _member(self, name: str) -> Member:
        shape, required = self.rows.get(name, (None, True))
        if name in self.inner:
            inner: Shape = self.inner[name].object()
            return Member(
                name, ListOf(inner) if name in self.lists or isinstance(shape, ListOf) else inner, required
            )
        if name in self.lists and not isinstance(shape, ListOf):
            return Member(name, ListOf(shape or ANY), required)
        return Member(name, shape or ANY, required)
