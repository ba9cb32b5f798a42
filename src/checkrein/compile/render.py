"""Text from templates. Values get into generated files only through the filters."""

from __future__ import annotations

import ast
import textwrap
from functools import cache
from typing import TYPE_CHECKING

from checkrein.compile import literals
from checkrein.compile.elements import shorten
from checkrein.compile.sheets import MockModelSheet, Sheet

if TYPE_CHECKING:
    from jinja2 import Environment, Template

    from checkrein.compile.constants import Constant
    from checkrein.compile.values import Element
    from checkrein.compile.values import Mapping as ElementMapping


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("checkrein.compile", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.filters.update(
        one_line=literals.one_line,
        literal=literals.value,
        assignment=assignment,
        comment=literals.comment,
        toml=literals.toml,
        md=literals.markdown,
        provenance=provenance,
        doc_text=doc_text,
        imported=imported,
        slot_doc=slot_doc,
        listed=listed,
        stored=stored,
        shorten=shorten,
        help_text=help_text,
        mapping_row=mapping_row,
    )
    return made


def render(sheet: Sheet) -> str:
    """The text of a sheet's template; the sheet's fields are the names in it."""
    values = {name: getattr(sheet, name) for name in sheet.__struct_fields__}
    return _template(sheet.TEMPLATE).render(values)


@cache
def mock_model(streaming: bool) -> str:
    """The model of a package's tests: one of two, whatever the spec says."""
    return render(MockModelSheet(streaming=streaming))


@cache
def _template(name: str) -> Template:
    return _environment().get_template(f"{name}.j2")


def assignment(constant: Constant) -> str:
    return literals.assignment(constant.name, constant.annotation, constant.value)


def provenance(sources: tuple[str, ...]) -> list[str]:
    """`PROVENANCE:` comment lines, wrapped, with the lines of one file together."""
    grouped: dict[str, list[str]] = {}
    for source in sources:
        file, _, lines = source.rpartition(":")
        grouped.setdefault(literals.comment(file or lines), []).append(
            literals.comment(lines) if file else ""
        )
    text = "; ".join(f"{file}:{', '.join(lines)}" if any(lines) else file for file, lines in grouped.items())
    return _wrapped(f"PROVENANCE: {text}", literals.LINE - 2)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words. The only blanks in `text` are spaces; several in a row are rare and stay."""
    if len(text) <= width:
        return [text.rstrip()]
    if "  " in text:
        return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    words = iter(text.split())
    lines = [next(words)]
    for word in words:
        if len(lines[-1]) + len(word) < width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def mapping_row(element: Element, mapping: ElementMapping) -> str:
    """A row of the report: what became of one element. There is one for each element."""
    place = literals.markdown(element.whole_place)
    source = f" ({element.source})" if element.source else ""
    symbol, summary = literals.markdown(mapping.target_symbol), literals.markdown(element.content_summary)
    private = " (private)" if element.sensitive else ""
    return (
        f"| {mapping.element_id} | {place}{source} | {element.tag} | {element.category} | {symbol} "
        f"| {mapping.primitive} | {summary}{private} |"
    )


def imported(names: list[str], module: str, indent: str = "") -> str:
    return literals.imports(module, names, indent)


def doc_text(text: str) -> str:
    """Text that is safe inside a one-line docstring."""
    flat = literals.comment(" ".join(text.split()))
    return flat.replace("\\", "/").replace('"', "'")


def help_text(text: str) -> str:
    """The help of one option; argparse gives `%` a meaning."""
    return shorten(literals.comment(text)).replace("%", "%%")


def slot_doc(text: str) -> str:
    return "    " + literals.docstring(f"{text.strip()}\n\nSet `result` to what this gives.", "    ")


def stored(annotation: str) -> str:
    """An annotation as a class keeps it under `from __future__ import annotations`."""
    return ast.unparse(ast.parse(annotation, mode="eval"))


def listed(values: tuple[str, ...]) -> str:
    """A tuple of texts on one line."""
    return f"({', '.join(map(literals.one_line, values))}{',' if len(values) == 1 else ''})"
