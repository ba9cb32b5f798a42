"""What a caller gives, out of a table: one row for each, with its name first."""

from __future__ import annotations

import re

from bridle.compile.blocks import plain
from bridle.compile.shapes.tables import RULER, cells

_NAME = re.compile(
    r"^(?:input|parameter|argument|name|option|variable|setting|flag)s?(?: name)?$", re.IGNORECASE
)


def is_input_table(text: str) -> bool:
    """The head starts with a word for an input."""
    head = cells(text.lstrip().split("\n", 1)[0])
    return len(head) > 1 and _NAME.match(plain(head[0])) is not None


def table_inputs(text: str) -> list[tuple[str, str]]:
    """(name, what it is) of every row: the other cells, each with its column where there are several."""
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
