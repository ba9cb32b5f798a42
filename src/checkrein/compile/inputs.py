"""What a caller gives: the typed parameters of the pipeline, from lines, hints and tables."""

from __future__ import annotations

import re

from msgspec import Struct

from checkrein.compile import names
from checkrein.compile.blocks import plain
from checkrein.compile.details import ArgumentDetails, TextDetails
from checkrein.compile.literals import one_line
from checkrein.compile.program.choices import choices_in, literal
from checkrein.compile.shapes.tables import RULER, cells
from checkrein.compile.values import Element
from checkrein.facts.compile_work import NUMBER_OF

_NAME = re.compile(
    r"^(?:input|parameter|argument|name|option|variable|setting|flag)s?(?: name)?$", re.IGNORECASE
)
_DEFAULT = re.compile(
    r"\bdefaults?(?: value)?(?: is| to|:|="
    r"|\s)\s*[`\"'“]?(?P<value>[^`\"'“”,;.)\n]{1,40}?)[`\"'”]?(?=[,;.)\n]|\s*$|\s(?:if|when|and)\b)",
    re.IGNORECASE,
)
_SWITCH = re.compile(r"^\[?\s*--?[\w-]+\s*\]?$")
_WHOLE = re.compile(r"^[-+]?\d{1,9}$")
_REAL = re.compile(r"^[-+]?\d{1,9}\.\d{1,6}$")
_TRUTH = {"true": "True", "false": "False", "yes": "True", "no": "False", "on": "True", "off": "False"}
_INT_WORD = re.compile(
    r"\b(?:integer|int|whole number)\b|<(?:n|num|number|count)>|\b(?:N|NUM|NUMBER)\b|=\d+\b"
)
_BOOL_WORD = re.compile(r"\b(?:boolean|bool|true/false|true or false|yes/no|flag|switch)\b", re.IGNORECASE)
_OR = re.compile(
    r"(?:`[^`\n]{1,24}`|\"[^\"\n]{1,24}\")(?:\s*(?:,|/|\||or|,\s*or)\s*(?:`[^`\n]{1,24}`|\"[^\"\n]{1,24}\"))+"
)


class Parameter(Struct, frozen=True, kw_only=True):
    """`annotation` and `default` are Python text; `choices` are the values of a `Literal`."""

    name: str
    about: str
    annotation: str = "str"
    default: str = '""'
    choices: tuple[str, ...] = ()

    @property
    def switch(self) -> bool:
        return self.annotation == "bool"


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
                found[written] = typed(name, about or written, written, element)
    return tuple(found.values())


def typed(name: str, about: str, written: str, element: Element) -> Parameter:
    """A parameter with the type that its description states: choices, a number, a switch, else text."""
    said = about if element.row is None else f"{about} {element.content_full}" if about == written else about
    default = _default(said)
    choices = _choices(said, written)
    if choices:
        chosen = next((one for one in choices if default and one.lower() == default.lower()), None)
        kind = literal(choices)
        if chosen is not None:
            return Parameter(
                name=name, about=about, annotation=kind, default=one_line(chosen), choices=choices
            )
        return Parameter(name=name, about=about, annotation=f"{kind} | None", default="None", choices=choices)
    if default.lower() in _TRUTH or (
        not default and (_SWITCH.match(said.strip()) or _BOOL_WORD.search(said))
    ):
        return Parameter(
            name=name, about=about, annotation="bool", default=_TRUTH.get(default.lower(), "False")
        )
    if _WHOLE.match(default):
        return Parameter(name=name, about=about, annotation="int", default=str(int(default)))
    if _REAL.match(default):
        return Parameter(name=name, about=about, annotation="float", default=default.lstrip("+"))
    if not default and (
        _INT_WORD.search(said) or (NUMBER_OF.search(written) and re.search(r"\bnumber\b", said))
    ):
        return Parameter(name=name, about=about, annotation="int | None", default="None")
    return Parameter(name=name, about=about, default=one_line(default))


def _default(said: str) -> str:
    found = _DEFAULT.search(said)
    value = found["value"].strip(" `\"'*_=:") if found is not None else ""
    return "" if value.lower() in ("none", "null", "empty", "n/a", "-", "—", "required") else value


def _choices(said: str, written: str) -> tuple[str, ...]:
    found = choices_in(said)
    if found:
        return found
    flag = re.search(rf"{re.escape(written)}[=\s]+<?([\w-]+(?:\|[\w-]+){{1,8}})", said)
    if flag is not None:
        return choices_in(f"[{flag[1]}]")
    row = _OR.search(said)
    if row is not None:
        values = tuple(dict.fromkeys(re.findall(r"[`\"]([^`\"\n]{1,24})[`\"]", row[0])))
        return values if 1 < len(values) <= 8 and len(literal(values)) <= 60 else ()
    return ()


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
        said = [(column, _cell(cell)) for column, cell in zip(head[1:], row[1:], strict=False) if plain(cell)]
        about = "; ".join(cell if len(said) == 1 else f"{column}: {cell}" for column, cell in said)
        name = plain(row[0]).lstrip("-")
        if name:
            found.append((name, about or name))
    return found


def _cell(text: str) -> str:
    """A cell in words; an escaped bar is a choice."""
    return " ".join(text.replace("\\|", "|").replace("**", "").split())
