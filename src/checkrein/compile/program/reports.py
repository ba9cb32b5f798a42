"""The report that a template describes: a typed field for every part, and the layout that code writes.

A heading is a field; a table, or lines with keys that repeat, are a list of records; lines with a dash are a
list; choices such as `[High/Medium/Low]` are one of a set; boxes to tick are truth values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from checkrein.compile.blocks import plain
from checkrein.compile.models import Field, Model, field_of
from checkrein.compile.names import Unique, class_name
from checkrein.compile.program.choices import choices_in, literal
from checkrein.compile.program.lists import boxes_in, tables_in
from checkrein.compile.values import Element
from checkrein.facts.compile_words import BLANK

_HEADING = re.compile(r"^(?P<marks>#{1,6})\s+(?P<title>\S.*?)\s*#*$")
_KEY = re.compile(
    r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:\*\*(?P<bold>[^*:\n]{2,40}):?\*\*:?"
    r"|(?P<plain>[A-Z][A-Za-z /-]{1,30}):)\s*(?P<value>.*)$"
)
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+\S")
_MORE = re.compile(
    r"^\s*(?:[-*+]\s+|\d+[.)]\s+|#+\s+)?(?:\.{3}|…|\[(?:repeat|next|more|\.{3}|continue)[^\]]*\])\s*$",
    re.IGNORECASE,
)
_BLANK_TITLE = re.compile(r"^\W*(?:\[[^\]]+\]|<[^>]+>|\{[^}]+\})\W*$")
_NUMBERING = re.compile(r"^(?:\d+[.)]|[A-Z][.)]|[ivx]+[.)])\s+|\s+(?:#?\d+|N|X)$")
_COUNT = re.compile(r"^\W*(?:\[?(?:N|X|count|number|#|\d+)\]?)(?:\s|%|$|/|\])", re.IGNORECASE)
_FEWEST, _MOST = 2, 16


class Part(Struct, frozen=True):
    """A field of a report with the line that it is written below or behind."""

    field: Field
    lead: str


class Report(Struct, frozen=True):
    """`models` are the inner ones and the report itself, in order; `layout` is its (field, lead) pairs."""

    name: str
    models: tuple[Model, ...]
    source: str


class _Section(Struct):
    title: str
    lead: str
    lines: list[str]


def report_of(templates: Iterable[Element], classes: Unique) -> Report | None:
    """The report of the template with the most parts; None when none of them has two."""
    best: tuple[int, Element, list[_Section]] | None = None
    for element in templates:
        sections = _sections(element.content_full)
        if len(sections) >= _FEWEST and (best is None or len(sections) > best[0]):
            best = (len(sections), element, sections)
    if best is None or best[0] > _MOST:
        return None
    return _written(best[1], best[2], classes)


def _written(element: Element, sections: list[_Section], classes: Unique) -> Report:
    name = classes.take(_class(element.heading))
    inner: list[Model] = []
    used: set[str] = {"gaps", "rendered", "layout"}
    parts = [_part(section, name, used, inner, classes) for section in sections]
    main = Model(
        name,
        tuple(part.field for part in parts),
        about="The answer, in the parts that the spec asks for.",
        layout=tuple((part.field.name, part.lead) for part in parts),
    )
    return Report(name, (*inner, main), element.place)


def _class(heading: str) -> str:
    title = class_name(heading, "Report")
    for ending in ("Template", "Format", "Structure"):
        title = title.removesuffix(ending)
    return (
        title if title.endswith(("Report", "Output", "Summary", "Result")) and len(title) <= 40 else "Report"
    )


def _sections(text: str) -> list[_Section]:
    """Headings, or keyed lines where there are no headings. Blank titles of repeated parts belong to the one
    above."""
    found: list[_Section] = []
    top = 7
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if heading is not None:
            level = len(heading["marks"])
            title = _NUMBERING.sub("", plain(heading["title"]))
            bare = BLANK.sub("", title).strip(" :–—-")
            if level == 1 and not found:
                continue
            if (level > top and found) or (not bare and found):
                found[-1].lines.append(line)
                continue
            top = min(top, level)
            found.append(_Section(bare or "Title", f"{heading['marks']} {bare or 'Title'}", []))
            continue
        if found:
            found[-1].lines.append(line)
    if len(found) >= _FEWEST:
        return found
    keys = [(key, line) for line in text.split("\n") if (key := _KEY.match(line)) is not None]
    named = [(key["bold"] or key["plain"] or "").strip() for key, _ in keys]
    if len(keys) < _FEWEST or len(set(named)) != len(named):
        return []
    return [
        _Section(name, f"**{name}:**", [key["value"]]) for name, (key, _) in zip(named, keys, strict=True)
    ]


def _part(section: _Section, owner: str, used: set[str], inner: list[Model], classes: Unique) -> Part:
    about = " ".join(plain(line) for line in section.lines if line.strip())[:120]
    annotation = _annotation(section, owner, inner, classes)
    made = field_of(section.title, annotation, True, used, about)
    return Part(Field(made.name, None, annotation, True, about), section.lead)


def _annotation(section: _Section, owner: str, inner: list[Model], classes: Unique) -> str:
    text = "\n".join(section.lines)
    said = [line for line in section.lines if line.strip()]
    if len(said) == 1:
        return _value(said[0]) or ("list[str]" if _ITEM.match(said[0]) else "str")
    for table in tables_in(text):
        if 2 <= len(table.head) <= 8 and len(set(table.head)) == len(table.head) and all(table.head):
            columns = [
                (head, "; ".join(row[at] for row in table.rows if at < len(row)))
                for at, head in enumerate(table.head)
            ]
            return f"list[{_record(section, columns, inner, classes)}]"
    boxes = boxes_in(text)
    if 2 <= len(boxes) <= _MOST and not any(BLANK.search(box) for box in boxes):
        lines: set[str] = set()
        fields = tuple(
            Field(field_of(box, "bool", True, lines).name, None, "bool", True, box) for box in boxes
        )
        name = classes.take(class_name(section.title, "Part")[:36] + "Checks")
        inner.append(Model(name, fields, about=f"What {section.title} confirms."[:100], checks=True))
        return name
    keys = [
        ((key["bold"] or key["plain"] or "").strip(), key["value"])
        for line in said
        if (key := _KEY.match(line))
    ]
    names = list(dict.fromkeys(name for name, _ in keys))
    if 2 <= len(names) <= 10 and len(keys) * 2 > len(said):
        many = len(keys) > len(names) or any(map(_MORE.match, said)) or _repeats(section.lines)
        record = _record(section, [(name, dict(reversed(keys))[name]) for name in names], inner, classes)
        return f"list[{record}]" if many else record
    if sum(_ITEM.match(line) is not None for line in said) * 2 > len(said):
        return "list[str]"
    return "str"


def _repeats(lines: list[str]) -> bool:
    """Whether a heading in it is only a blank: `### [Finding title]`."""
    headings = [found["title"] for line in lines if (found := _HEADING.match(line)) is not None]
    return any(
        _BLANK_TITLE.match(title) or re.search(r"\[[^\]]+\]|<\w|\{\w|\b\d\b", title) for title in headings
    )


def _record(section: _Section, columns: list[tuple[str, str]], inner: list[Model], classes: Unique) -> str:
    lines: set[str] = set()
    fields = []
    for title, value in columns:
        annotation = _value(value) or "str"
        made = field_of(title, annotation, True, lines, plain(value)[:80])
        fields.append(Field(made.name, None, annotation, True, f"{title}: {plain(value)[:80]}".rstrip(": ")))
    name = classes.take(class_name(section.title, "Part")[:36].removesuffix("s") or "Part")
    inner.append(Model(name, tuple(fields), about=f"One entry of {section.title}."[:100]))
    return name


def _value(text: str) -> str:
    """The type of a place to fill in: a choice, a number, or nothing that code could tell."""
    labels = choices_in(text)
    if labels:
        return literal(labels)
    return "int" if _COUNT.match(text.strip().lstrip("-* ")) and len(text) < 40 else ""
