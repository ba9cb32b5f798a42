"""What one step does as a function: the type of its result, its cases, what it repeats."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from checkrein.compile.answers import labels_of, record_of, sorts_several
from checkrein.compile.blocks import plain
from checkrein.compile.grammar import consequence, is_imperative, parts
from checkrein.compile.models import Field, Model, field_of
from checkrein.compile.names import Unique
from checkrein.compile.program.gates import is_irreversible
from checkrein.compile.program.lists import boxes_in, keyed, lists_in, tables_in
from checkrein.compile.values import Element
from checkrein.facts import compile_work as words
from checkrein.facts.compile_words import CONDITION, WHEN_COLUMNS

Result = Literal[
    "text",
    "items",
    "record",
    "records",
    "label",
    "verdict",
    "outcome",
    "attempt",
    "way",
    "answer",
    "consent",
    "report",
]
_HEAD = 240
_LABEL = 60
_MOST_CHECKS = 12
_SENTENCE = re.compile(r"(?<=[.!?:])\s")


class Way(Struct, frozen=True):
    """One of several cases and what to do in it."""

    label: str
    text: str


class Work(Struct, frozen=True, kw_only=True):
    """`holds` is the condition under which a step is done at all; `each` the noun of a loop; `again` the
    number of the step to go back to when a check fails, 0 for the one before, None for no return."""

    result: Result = "text"
    model: Model | None = None
    labels: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ()
    holds: str = ""
    each: str = ""
    again: int | None = None


def work_of(element: Element, function: str, classes: Unique) -> Work:
    """The work of a step, by its tag and by what its text holds."""
    text = element.content_full
    head = plain(text[:_HEAD].split("\n\n", 1)[0])
    each = _each(head)
    if element.tag in ("DECIDE", "CLASSIFY") or words.CHOOSES.search(_first(head)):
        ways = _ways(text, strict=element.tag not in ("DECIDE", "CLASSIFY"))
        if ways:
            return Work(result="way", ways=ways, each=each)
    if element.tag == "DECIDE":
        return Work(holds=_condition(head), each=each)
    if element.tag == "VALIDATE_DOMAIN":
        return Work(result="verdict", model=_checks(text, function, classes), each=each, again=_again(text))
    if element.tag == "REMEDIATE":
        return Work(result="attempt")
    if element.tag == "ORCHESTRATE":
        return Work(result="outcome", each=each)
    if element.tag == "CLASSIFY":
        return _sorted(element, function, classes, each)
    if element.tag == "EXTRACT":
        return _extracted(element, function, classes, each)
    if element.tag == "TRANSFORM" and is_irreversible(head):
        return Work(result="outcome", each=each)
    return Work(each=each)


def _first(head: str) -> str:
    return _SENTENCE.split(head, maxsplit=1)[0]


def _each(head: str) -> str:
    found = words.EACH_OBJECT.match(head) or words.EACH.search(_SENTENCE.split(head, maxsplit=2)[0])
    if found is None:
        return ""
    named = found.groupdict()
    noun = named.get("noun") or named.get("over") or "item"
    return re.split(
        r"\s(?:in|of|that|which|with|from|to|and|or|is|has|on|using|you|by)\b", noun.lower(), maxsplit=1
    )[0]


def _condition(head: str) -> str:
    if CONDITION.match(head) is None or consequence(head) is None:
        return ""
    return re.split(r"[,:]\s", head, maxsplit=1)[0]


def _again(text: str) -> int | None:
    found = words.AGAIN.search(text)
    if found is None:
        return None
    return int(found["number"]) if found["number"] else 0


def _ways(text: str, *, strict: bool) -> tuple[Way, ...]:
    """The cases of the first list or table that has some. With `strict` every item says when it applies."""
    for items in lists_in(text):
        cases = [_case(item) for item in items]
        if len(items) > 1 and all(cases):
            return _unique([Way(case or "", item) for case, item in zip(cases, items, strict=True)])
        pairs = [] if strict else keyed(items)
        if pairs and sum(is_imperative(rest) or consequence(rest) is not None for _, rest in pairs) * 2 > len(
            pairs
        ):
            return _unique([Way(key, item) for (key, _), item in zip(pairs, items, strict=True)])
    for table in [] if strict else tables_in(text):
        if 2 <= len(table.rows) <= 12 and (WHEN_COLUMNS.search("|".join(table.head)) or len(table.head) == 2):
            rows = [
                Way(row[0], "; ".join(cell for cell in row if cell)) for row in table.rows if row and row[0]
            ]
            return _unique(rows)
    return ()


def _case(item: str) -> str | None:
    line = plain(item.split("\n", 1)[0])
    said = parts(line).rest if words.CASE.match(line) is None and parts(line).key else line
    found = words.CASE.match(line) or words.ARROW.match(line) or words.CASE.match(said)
    if found is None:
        return None
    named = found.groupdict()
    return named.get("case") or named.get("other") or None


def _unique(ways: list[Way]) -> tuple[Way, ...]:
    labels = [_short(one.label) for one in ways]
    if len(set(labels)) != len(labels) or not all(labels) or not 2 <= len(ways) <= 12:
        return ()
    return tuple(Way(label, one.text) for label, one in zip(labels, ways, strict=True))


def _short(text: str) -> str:
    flat = " ".join(plain(text).split()).strip(" .:;,\"'")
    return flat if len(flat) <= _LABEL else flat[:_LABEL].rsplit(" ", 1)[0]


def _checks(text: str, function: str, classes: Unique) -> Model | None:
    """A truth value for each line of a list to check; None when the step has no such list."""
    boxes = boxes_in(text)
    lists = [boxes] if boxes else lists_in(text)
    for items in lists:
        lines = [plain(item.split("\n", 1)[0]) for item in items]
        told = any(CONDITION.match(line) or words.AGAIN.search(line) for line in lines)
        if 2 <= len(lines) <= _MOST_CHECKS and not told and all(3 < len(line) <= 160 for line in lines):
            return check_model(lines, function, classes, f"What {function} checks.")
    return None


def check_model(lines: list[str], function: str, classes: Unique, about: str) -> Model:
    used = {"passed", "findings"}
    fields = tuple(_check(line, used) for line in lines)
    name = classes.take(function.title().replace("_", "") + "Checks")
    return Model(name, fields, about=about, checks=True)


def _check(line: str, used: set[str]) -> Field:
    made = field_of(line, "bool", True, used, line)
    return Field(made.name, None, "bool", True, line)


def _sorted(element: Element, function: str, classes: Unique, each: str) -> Work:
    labels = labels_of(element)
    if not labels:
        return Work(each=each)
    if not sorts_several(element) or each:
        return Work(result="label", labels=labels, each=each)
    used: set[str] = set()
    inner = ", ".join(f'"{one}"' if '"' not in one else repr(one) for one in labels)
    fields = (
        field_of("item", "str", True, used, "What is sorted."),
        Field("label", None, f"Literal[{inner}]", True, "Where it belongs."),
    )
    if len(inner) > 60:
        return Work(result="items", labels=())
    name = classes.take(function.title().replace("_", "") + "Item")
    return Work(result="records", model=Model(name, fields, about=f"One thing that {function} sorts."))


def _extracted(element: Element, function: str, classes: Unique, each: str) -> Work:
    drafted = record_of(element, function, classes)
    if drafted is not None:
        return Work(result="record", model=drafted, each=each)
    text = element.content_full
    for items in lists_in(text)[:1]:
        pairs = keyed(items)
        if pairs and len(pairs) == len(items) and all(len(key) <= 40 for key, _ in pairs):
            used: set[str] = set()
            fields = tuple(field_of(key, "str", True, used, rest[:120]) for key, rest in pairs)
            many = words.EACH.search(text[:_HEAD]) is not None
            name = classes.take(function.title().replace("_", "") + ("Item" if many else "Record"))
            about = f"One thing that {function} finds." if many else f"What {function} gives."
            return Work(result="records" if many else "record", model=Model(name, fields, about=about))
    return Work(result="items", each=each if words.EACH.match(plain(text[:_HEAD])) else "")
