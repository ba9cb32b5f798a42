"""What a caller gives: the parameters of the pipeline, from lines and from tables with a row for each."""

from __future__ import annotations

import re

from msgspec import Struct

from checkrein.compile import names
from checkrein.compile.blocks import plain
from checkrein.compile.details import ArgumentDetails, TextDetails
from checkrein.compile.shapes.tables import RULER, cells
from checkrein.compile.values import Element

_NAME = re.compile(
    r"^(?:input|parameter|argument|name|option|variable|setting|flag)s?(?: name)?$", re.IGNORECASE
)


class Parameter(Struct, frozen=True, kw_only=True):
    name: str
    about: str


def read_parameters(elements: tuple[Element, ...]) -> tuple[Parameter, ...]:
    unique = names.Unique()
    found: dict[str, Parameter] = {}
    for element in elements:
        if element.tag != "TOOL_INPUT":
            continue
        for written, about in _inputs(element):
            known = found.get(written)
            name = known.name if known else unique.take(names.parameter(written, "argument"))
            if known is None or (element.row is None and about):
                found[written] = Parameter(name=name, about=about or written)
    return tuple(found.values())


def _inputs(element: Element) -> list[tuple[str, str]]:
    """The inputs that an element asks the caller for: names, each with a description."""
    known = element.details
    if isinstance(known, TextDetails) and known.table == "inputs":
        return table_inputs(element.content_full)
    if isinstance(known, TextDetails | ArgumentDetails) and known.argument is not None:
        return [(known.argument, known.about or "")]
    return []


def is_input_table(text: str) -> bool:
    """Whether the head starts with a word for an input."""
    head = cells(text.lstrip().split("\n", 1)[0])
    return len(head) > 1 and _NAME.match(plain(head[0])) is not None


def table_inputs(text: str) -> list[tuple[str, str]]:
    """(name, description) of every row: the other cells, each with its column when there are several."""
    rows = [cells(line) for line in text.strip().split("\n") if line.strip()]
    if len(rows) < 3 or not all(map(RULER.match, rows[1])):
        return []
    head = [plain(cell) for cell in rows[0]]
    found = []
    for row in rows[2:]:
        said = [(column, plain(cell)) for column, cell in zip(head[1:], row[1:], strict=False) if plain(cell)]
        about = "; ".join(cell if len(said) == 1 else f"{column}: {cell}" for column, cell in said)
        name = plain(row[0]).lstrip("-")
        if name:
            found.append((name, about or name))
    return found
