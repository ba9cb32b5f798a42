"""What a step answers with, labels or fields: from its text, else from a model's draft."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checkrein.compile.blocks import plain
from checkrein.compile.grammar import asks_someone
from checkrein.compile.models import Field, Model, field_of
from checkrein.compile.names import Unique
from checkrein.compile.values import Element
from checkrein.facts.compile_words import SEVERAL

MAX_LABELS = 12
_MARKED = r"(?:`[^`\n]{1,40}`|\*\*[^*\n]{1,40}\*\*|[\"“][^\"”\n]{1,40}[\"”])"
_WORD = r"[A-Za-z][\w-]*(?: [\w-]+){0,2}"
_WORDS = rf"{_WORD}(?:, {_WORD}){{0,10}},? (?:or|and) {_WORD}"
_END = r"(?=[.\n]|$)"
_ROWS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"({_MARKED}(?:, {_MARKED}){{0,10}},? (?:or|and) {_MARKED})",
        rf"\(({_WORD}(?:, {_WORD}){{1,11}})\)",
        rf"\bone of(?: \w+){{0,2}}: ({_WORDS}|{_WORD}(?:, {_WORD}){{1,11}}){_END}",
        rf"(?:\bas|\b(?:type|category|kind|level|mode):) ({_WORDS}){_END}",
    )
)
_SEPARATORS = re.compile(r",? (?:or|and) |, ")
_LIST_OR_MORE = re.compile(r"\n[ \t]*(?:[-*+] |\d+[.)] |\||```|~~~)")
_FIRST_LIST = re.compile(r"^[ \t]*[-*+][ \t][^\n]*(?:\n[ \t]*[-*+][ \t][^\n]*|\n[ \t]+[^\n]*)*", re.MULTILINE)
_HEADS = re.compile(
    r"^[-*+][ \t]+(?:\*\*([^*\n]{1,40})\*\*|`([^`\n]{1,40})`)[ \t]*(?:[:—–(-]|$)", re.MULTILINE
)
_NO_LABEL = re.compile(r"[<>/{}$]|\.\w+$|\betc\b")


def labels_of(element: Element) -> tuple[str, ...]:
    return stated_labels(element) or (element.prose.draft.labels if element.prose.draft else ())


def sorts_several(element: Element) -> bool:
    """Whether a step gives a label to each of many things: then one label is not an answer."""
    said = _paragraph(element)
    for pattern in _ROWS:
        said = pattern.sub("", said)
    return SEVERAL.search(said) is not None


def stated_labels(element: Element) -> tuple[str, ...]:
    """The choices of a classification: those its first sentences name in a row, else the heads of its first
    list. An open row (`etc.`) and a list of questions to a person name none."""
    paragraph = _paragraph(element)
    for pattern in _ROWS:
        row = pattern.search(paragraph)
        if row is not None:
            return _labels(_SEPARATORS.split(row[1]))
    if any(asks_someone(plain(line)) for line in paragraph.split("\n")):
        return ()
    items = _FIRST_LIST.search(element.content_full)
    return _labels(bold or code for bold, code in _HEADS.findall(items[0])) if items else ()


def _paragraph(element: Element) -> str:
    """The title of a step and its text before the first list, table or fence."""
    return _LIST_OR_MORE.split(element.content_full, maxsplit=1)[0]


def _labels(found: Iterable[str]) -> tuple[str, ...]:
    labels = tuple(dict.fromkeys(one.strip(' :.`*"“”') for one in found))
    fits = all(1 < len(one) <= 40 and not _NO_LABEL.search(one) for one in labels)
    return labels if 1 < len(labels) <= MAX_LABELS and fits else ()


def record_of(element: Element, function: str, classes: Unique) -> Model | None:
    """The model of what an extraction gives; None when nothing names its fields."""
    drafted = element.prose.draft
    if drafted is None or not drafted.fields:
        return None
    used: set[str] = set()
    fields: list[Field] = [field_of(one.name, one.type, True, used, one.about) for one in drafted.fields]
    name = classes.take(function.title().replace("_", "") + "Record")
    return Model(name, tuple(fields), about=f"What {function} gives.")
