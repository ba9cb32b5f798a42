"""Asks a model about elements that the rules are not sure about. Compile also works without one.

It asks only about elements of the spec's text with low confidence, in batches, with a schema for the answer.
An answer that does not fit the tables changes nothing. Answers are stored by the hash of the question, so a
second compile asks nothing and gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin, Span
from checkrein.base.secrets import looks_secret
from checkrein.compile.advice_prompt import SCHEMA, VERSION, question, system
from checkrein.compile.advisor import BATCH, Advisor, ask, ignored, is_silent, key_of, rows_of, unreadable
from checkrein.compile.artifacts import Answer, Draft
from checkrein.compile.coverage import lines_of
from checkrein.compile.values import Element, Inventory
from checkrein.facts import compile as facts


class Advised(Struct, frozen=True):
    """`answers` and `drafts` are all that compile used, by key; `changed` the elements whose tag a model
    chose, `drafted` what it drafted for which element or fixture, `samples` its requests."""

    inventory: Inventory
    label: str
    answers: dict[str, Answer]
    changed: tuple[str, ...]
    calls: int
    drafts: dict[str, Draft] = {}
    drafted: dict[str, str] = {}
    samples: tuple[str, ...] = ()

    def file(self) -> dict[str, Any]:
        return {
            "format_version": facts.FORMAT_VERSION,
            "model": self.label,
            "answers": {key: msgspec.to_builtins(self.answers[key]) for key in sorted(self.answers)},
            "drafts": {key: msgspec.to_builtins(self.drafts[key]) for key in sorted(self.drafts)},
        }

    def manifest(self) -> dict[str, Any]:
        """What melleafy.json says about the model."""
        return {
            "tagging_model": self.label,
            "element_provenance": dict.fromkeys(self.changed, "model"),
            "drafting_model": self.label if self.drafted else None,
            "draft_provenance": self.drafted,
        }


def advise(inventory: Inventory, advisor: Advisor) -> Advised:
    """The inventory with the model's tags where its answers are valid. Never raises for a model."""
    asked = [element for element in inventory.elements if is_doubtful(element)]
    keys = {element.element_id: _key(advisor, inventory, element) for element in asked}
    remembered = advisor.remembered.answers
    answers = {
        key: known
        for element in asked
        if (known := remembered.get(key := keys[element.element_id])) is not None
        and problem(element, known) is None
    }
    missing = [element for element in asked if keys[element.element_id] not in answers]
    log: list[Diagnostic] = []
    calls = 0
    while missing and not is_silent(log):
        batch, missing = missing[:BATCH], missing[BATCH:]
        calls += 1
        for element, answer in _ask(inventory, advisor, batch, log):
            answers[keys[element.element_id]] = answer
    told = {element.element_id: answers.get(keys[element.element_id]) for element in asked}
    elements = tuple(_told(element, told.get(element.element_id), advisor) for element in inventory.elements)
    changed = tuple(
        new.element_id for old, new in zip(inventory.elements, elements, strict=True) if old is not new
    )
    return Advised(
        inventory=replace(inventory, elements=elements, diagnostics=(*inventory.diagnostics, *log)),
        label=advisor.label,
        answers=answers,
        changed=changed,
        calls=calls,
    )


def may_be_sent(element: Element) -> bool:
    """Whether it is text of the spec's body, not private, and without anything that looks like a secret."""
    return (
        element.row in (None, "M-21")
        and element.dialect_rule_id == "claude_code:4:body"
        and not element.sensitive
        and bool(element.content_full.strip())
        and not looks_secret(element.content_full)
    )


def is_doubtful(element: Element) -> bool:
    """Whether only the mood of its words decided the tag."""
    return min(element.confidence.values(), default=1.0) < facts.LOW_CONFIDENCE and may_be_sent(element)


def problem(element: Element, answer: Answer) -> str | None:
    """Why an answer is not valid; None when it is. Steps stay steps, and other text stays text."""
    if answer.tag not in facts.TAGS:
        return f"there is no tag {answer.tag[:40]!r}"
    if answer.category not in facts.CATEGORIES:
        return f"there is no category {answer.category[:40]!r}"
    allowed = facts.STEP_TAGS if element.step is not None else facts.TEXT_TAGS
    if answer.tag not in allowed:
        return f"{answer.tag} is not a tag for {'a step' if element.step is not None else 'text'}"
    if answer.category not in allowed[answer.tag]:
        return f"{answer.tag} does not go with {answer.category}"
    return None


def _key(advisor: Advisor, inventory: Inventory, element: Element) -> str:
    said = (VERSION, advisor.label, inventory.spec.description, element.heading, element.content_full)
    return key_of(*said, element.tag, element.category, "step" if element.step is not None else "text")


def place_of(element: Element) -> Origin:
    return Origin(element.source_file, "project").at(Span(min(lines_of(element.source_lines), default=1)))


def _ask(
    inventory: Inventory, advisor: Advisor, batch: Sequence[Element], log: list[Diagnostic]
) -> Iterator[tuple[Element, Answer]]:
    """Elements of the batch with a valid answer. Everything else becomes a diagnostic."""
    spec = inventory.spec
    place = Origin(spec.file, "project")
    answer = ask(advisor, system(), question(spec.name, spec.description, batch), SCHEMA, place, log)
    if answer is None:
        return
    rows = rows_of(answer, "elements")
    if rows is None:
        log.append(unreadable(advisor, place))
        return
    known = {element.element_id: element for element in batch}
    reasons: list[tuple[Origin, str]] = []
    for row in rows:
        element = known.pop(str(row.get("id")), None)
        if element is None:
            reasons.append((place, f"it names {str(row.get('id'))[:40]!r}"))
            continue
        said = Answer(str(row.get("tag")), str(row.get("category")))
        reason = problem(element, said)
        if reason is None:
            yield element, said
        else:
            reasons.append((place_of(element), reason))
    log += ignored(advisor, reasons)


def _told(element: Element, answer: Answer | None, advisor: Advisor) -> Element:
    if answer is None or (answer.tag, answer.category) == (element.tag, element.category):
        return element
    details = replace(
        element.prose,
        provenance="model",
        was=f"{element.tag}/{element.category}",
        why=f"{advisor.label} says so",
    )
    return replace(element, tag=answer.tag, category=answer.category, details=details)
