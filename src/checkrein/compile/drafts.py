"""What a model may draft, and when compile accepts it. A model's text becomes a value here or nothing.

A check must be in the table, its words and numbers must be in the rule. Labels must be in the step. Fields
have plain names and one of a few types. Sample requests are one plain line.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from typing import Literal

from checkrein.base.secrets import redact_source
from checkrein.compile.advice import may_be_sent
from checkrein.compile.answers import MAX_LABELS, sorts_several, stated_labels
from checkrein.compile.artifacts import Draft
from checkrein.compile.checks import NUMBERS, PARTIAL, Check, holds_in_part, stated_check
from checkrein.compile.details import FieldDraft
from checkrein.compile.values import Element
from checkrein.facts.compile_checks import CHECKS, MAX_COUNT, MAX_TEXTS, MAX_WORDS
from checkrein.facts.compile_words import FORBIDDING, JUDGED

Wanted = Literal["check", "labels", "fields", "samples"]

FIELD_TYPES = ("str", "int", "float", "bool", "list[str]")
MAX_FIELDS = 8
MAX_SAMPLES = 3
_LABEL = 40
_ABOUT = 120
_SAMPLE = (10, 400)


class UnfitError(ValueError):
    """Why compile does not accept a draft."""


def wanted(element: Element, *, chat: bool) -> Wanted | None:
    """What a model may draft for an element. One conversation has no shapes, as its steps share a context."""
    if element.step is None:
        return "check" if _is_open_rule(element) and may_be_sent(element) else None
    if chat or element.tag not in ("CLASSIFY", "EXTRACT") or not may_be_sent(element):
        return None
    if element.tag == "EXTRACT":
        return "fields"
    return None if stated_labels(element) or sorts_several(element) else "labels"


def _is_open_rule(element: Element) -> bool:
    """Whether code could check a rule, though its words alone do not say how."""
    if element.tag != "VALIDATE_OUTPUT" or element.prose.reads or element.prose.carried:
        return False
    lead = element.prose.lead
    judged = JUDGED.search(element.content_full) or FORBIDDING.search(lead or element.heading)
    return not judged and not holds_in_part(lead) and stated_check(element) is None


def settle(kind: Wanted, text: str, draft: Draft) -> Draft:
    """The requested part of a draft, if it fits `text`. Raises UnfitError."""
    if kind == "check":
        check = check_from(text, draft.check, draft.arguments) if draft.check is not None else None
        return Draft(check=check.function, arguments=draft.arguments) if check is not None else Draft()
    if kind == "labels":
        return Draft(labels=_labels(text, draft.labels) if draft.labels else ())
    if kind == "fields":
        return Draft(fields=_fields(draft.fields) if draft.fields else ())
    return Draft(samples=_samples(draft.samples) if draft.samples else ())


def check_from(text: str, function: str, arguments: Sequence[str]) -> Check:
    """A check from the table for a rule that asks for it. Raises UnfitError."""
    row = CHECKS.get(function)
    if row is None:
        raise UnfitError(f"there is no check {function[:40]!r}")
    if not re.search(row.says, text, re.IGNORECASE):
        raise UnfitError(f"the rule does not mention what {function} checks")
    few, many = {"none": (0, 0), "count": (1, 1), "text": (1, 1), "texts": (1, MAX_TEXTS)}[row.kind]
    if not few <= len(arguments) <= many or len(set(arguments)) != len(arguments):
        raise UnfitError(f"{function} does not take {len(arguments)} arguments like these")
    if row.kind == "none":
        return Check(function)
    if row.kind == "count":
        return Check(function, _count(text, arguments[0]))
    for words in arguments:
        if not 2 <= len(words) <= MAX_WORDS or not _is_plain(words) or not _says(text, words):
            raise UnfitError(f"the rule does not say {words[:40]!r}")
    return Check(function, arguments[0] if row.kind == "text" else tuple(arguments))


def _count(text: str, written: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", written) or int(written) > MAX_COUNT:
        raise UnfitError(f"{written[:40]!r} is not a count")
    if PARTIAL.search(text):
        raise UnfitError("the rule's number is about a part of the answer")
    count = int(written)
    named = NUMBERS[count - 1] if count <= len(NUMBERS) else written
    said = rf"(?<![\d.]){written}(?!\d|\.\d)|\b{named}\b"
    if not re.search(said, text.replace(",", ""), re.IGNORECASE):
        raise UnfitError(f"the rule does not say {written}")
    return count


def _labels(text: str, labels: Sequence[str]) -> tuple[str, ...]:
    if not 2 <= len(labels) <= MAX_LABELS or len({one.casefold() for one in labels}) != len(labels):
        raise UnfitError(f"there are 2 to {MAX_LABELS} labels, each once")
    for label in labels:
        short = 0 < len(label) <= _LABEL and len(label.split()) <= 4 and re.search(r"\w", label)
        if not short or not _is_plain(label) or not _says(text, label):
            raise UnfitError(f"the step does not say {label[:40]!r}, or it is not a label")
    return tuple(labels)


def _fields(fields: Sequence[FieldDraft]) -> tuple[FieldDraft, ...]:
    if len(fields) > MAX_FIELDS or len({one.name for one in fields}) != len(fields):
        raise UnfitError(f"there are up to {MAX_FIELDS} fields, each once")
    for one in fields:
        if not re.fullmatch(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*", one.name) or len(one.name) > 40:
            raise UnfitError(f"{one.name[:40]!r} is not a field name")
        if keyword.iskeyword(one.name):
            raise UnfitError(f"{one.name!r} is a reserved word of Python")
        if one.type not in FIELD_TYPES:
            raise UnfitError(f"there is no type {one.type[:40]!r}")
        if len(one.about) > _ABOUT or not (_is_plain(one.about) or not one.about):
            raise UnfitError(f"the text about {one.name!r} is not a short line")
    return tuple(fields)


def _samples(samples: Sequence[str]) -> tuple[str, ...]:
    if len(samples) > MAX_SAMPLES or len(set(samples)) != len(samples):
        raise UnfitError(f"there are up to {MAX_SAMPLES} sample requests, each once")
    for sample in samples:
        if not _SAMPLE[0] <= len(sample) <= _SAMPLE[1] or not _is_plain(sample):
            raise UnfitError("a sample request is one plain line of 10 to 400 characters")
    return tuple(samples)


def _is_plain(text: str) -> bool:
    """Whether it is one line as a person would type it, without anything that looks like a secret."""
    return text.isprintable() and text.strip() == text != "" and redact_source(text) == text


def _says(text: str, words: str) -> bool:
    """Whether the words are in the text. Case, blanks and marks of emphasis do not count."""
    flat, sought = (" ".join(one.replace("**", "").casefold().split()) for one in (text, words))
    return bool(sought) and re.search(rf"(?<!\w){re.escape(sought)}(?!\w)", flat) is not None
