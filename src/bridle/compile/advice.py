"""A model's opinion on elements that the rules are not sure about. It is validated, kept, and never needed.

Only elements of the spec's text whose confidence is low are asked about, in batches, with a schema for the
answer. What does not fit the tables changes nothing. Answers are kept by the hash of what was asked, so a
second compile asks nothing and gives the same bytes.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.base.diagnostic import Diagnostic
from bridle.base.errors import BridleError
from bridle.base.origin import Origin, Span
from bridle.compile.advice_prompt import SCHEMA, VERSION, question, system
from bridle.compile.artifacts import AdviceFile, Answer
from bridle.compile.coverage import lines_of
from bridle.compile.values import Element, Inventory
from bridle.facts import compile as facts
from bridle.llm.port import Cancel, Model, Request, SystemBlock, collect, user

FILE = "model_advice.json"
BATCH = 40


class Advisor(Struct, frozen=True):
    """`label` is what the package says of the model: provider and name, no path of this machine. `open` gives
    the model and the name it is asked by; it is called when there is something to ask."""

    open: Callable[[], tuple[Model, str]]
    label: str
    remembered: dict[str, Answer] = {}


class Advised(Struct, frozen=True):
    """`answers` are all that were used, by key; `changed` the elements whose tag a model chose."""

    inventory: Inventory
    label: str
    answers: dict[str, Answer]
    changed: tuple[str, ...]
    calls: int

    def file(self) -> dict[str, Any]:
        return {
            "format_version": facts.FORMAT_VERSION,
            "model": self.label,
            "answers": {key: msgspec.to_builtins(self.answers[key]) for key in sorted(self.answers)},
        }

    def manifest(self) -> dict[str, Any]:
        """What melleafy.json says about it."""
        return {
            "tagging_model": self.label,
            "element_provenance": dict.fromkeys(self.changed, "model"),
        }


def read_memory(root: str) -> dict[str, Answer]:
    """Answers that packages below `root` have kept. A file that can't be read remembers nothing."""
    found: dict[str, Answer] = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "*_mellea", "intermediate", FILE))):
        try:
            with open(path, "rb") as file:
                found |= msgspec.json.decode(file.read(), type=AdviceFile).answers
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            continue
    return found


def advise(inventory: Inventory, advisor: Advisor) -> Advised:
    """The inventory with the model's tags where it was asked and answered well. Never raises for a model."""
    asked = [element for element in inventory.elements if is_doubtful(element)]
    keys = {element.element_id: _key(advisor, inventory, element) for element in asked}
    answers = {
        key: known
        for element in asked
        if (known := advisor.remembered.get(key := keys[element.element_id])) is not None
        and problem(element, known) is None
    }
    missing = [element for element in asked if keys[element.element_id] not in answers]
    log: list[Diagnostic] = []
    calls = 0
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
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


def is_doubtful(element: Element) -> bool:
    """Text of the spec's body whose tag rests on nothing but the mood of its words."""
    return (
        element.row in (None, "M-21")
        and element.dialect_rule_id == "claude_code:4:body"
        and not element.sensitive
        and bool(element.content_full.strip())
        and min(element.confidence.values(), default=1.0) < facts.LOW_CONFIDENCE
    )


def problem(element: Element, answer: Answer) -> str | None:
    """Why an answer can't stand; None when it can. Steps stay steps, and other text stays text."""
    if answer.tag not in facts.TAGS:
        return f"there is no tag {answer.tag!r}"
    if answer.category not in facts.CATEGORIES:
        return f"there is no category {answer.category!r}"
    allowed = facts.STEP_TAGS if element.step is not None else facts.TEXT_TAGS
    if answer.tag not in allowed:
        return f"{answer.tag} is no tag for {'a step' if element.step is not None else 'text'}"
    if answer.category not in allowed[answer.tag]:
        return f"{answer.tag} does not go with {answer.category}"
    return None


def _key(advisor: Advisor, inventory: Inventory, element: Element) -> str:
    said = [VERSION, advisor.label, inventory.spec.description, element.heading, element.content_full]
    said += [element.tag, element.category, "step" if element.step is not None else "text"]
    return hashlib.sha256(json.dumps(said).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _ask(
    inventory: Inventory, advisor: Advisor, batch: Sequence[Element], log: list[Diagnostic]
) -> Iterator[tuple[Element, Answer]]:
    """Elements of the batch with a valid answer. Everything else is a diagnostic."""
    spec = inventory.spec
    place = Origin(spec.file, "project")
    try:
        model, name = advisor.open()
        request = Request(
            model=name,
            system=(SystemBlock(system()),),
            messages=(user(question(spec.name, spec.description, batch)),),
            max_tokens=8_000,
            output_schema=SCHEMA,
        )
        text = collect(model.stream(request, Cancel())).text
    except BridleError as error:
        said = f"{advisor.label} did not answer; the tags of the rules stand: {error}"
        log.append(Diagnostic("COMPILE001", "warning", said, place, hint=error.hint))
        return
    rows = _rows(text)
    if rows is None:
        log.append(
            Diagnostic("COMPILE002", "warning", f"{advisor.label} gave no answer that can be read", place)
        )
        return
    known = {element.element_id: element for element in batch}
    for row in rows:
        element = known.pop(str(row.get("id")), None)
        if element is None:
            log.append(_ignored(advisor, place, f"it speaks of {str(row.get('id'))[:40]!r}"))
            continue
        answer = Answer(str(row.get("tag")), str(row.get("category")))
        reason = problem(element, answer)
        if reason is None:
            yield element, answer
        else:
            first = min(lines_of(element.source_lines), default=1)
            log.append(_ignored(advisor, place.at(Span(first)), reason))


def _ignored(advisor: Advisor, origin: Origin, reason: str) -> Diagnostic:
    return Diagnostic("COMPILE002", "warning", f"an answer of {advisor.label} was ignored: {reason}", origin)


def _rows(text: str) -> list[dict[str, Any]] | None:
    """The list in an answer, also inside a fence; None when there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        found = msgspec.json.decode(text[start : end + 1] if start >= 0 else text)
    except msgspec.DecodeError:
        return None
    rows = found.get("elements") if isinstance(found, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    return rows


def _told(element: Element, answer: Answer | None, advisor: Advisor) -> Element:
    if answer is None or (answer.tag, answer.category) == (element.tag, element.category):
        return element
    details = {
        **element.details,
        "provenance": "model",
        "was": f"{element.tag}/{element.category}",
        "why": f"{advisor.label} says so",
    }
    return replace(element, tag=answer.tag, category=answer.category, details=details)
