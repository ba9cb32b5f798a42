"""Lets a model draft what the rules leave open: checks of rules, labels and fields of steps, sample requests.

The contract is that of tags: questions in batches with a schema, valid answers only, stored by the hash of
the question. A draft is in its element's details; the templates make code of it as they do of what the rules
find.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.compile.advice import Advised, place_of
from checkrein.compile.advisor import BATCH, Advisor, ask, ignored, is_silent, key_of, rows_of, unreadable
from checkrein.compile.artifacts import Draft
from checkrein.compile.checks import rule_text
from checkrein.compile.details import Drafted
from checkrein.compile.drafts import UnfitError, Wanted, settle, wanted
from checkrein.compile.drafts_prompt import SCHEMA, VERSION, question, system
from checkrein.compile.fixtures import SAMPLED
from checkrein.compile.values import Element, Inventory

EMPTY = Draft()
_SAMPLES = "samples"
_ROWS: dict[Wanted, str] = {"check": "checks", "labels": "labels", "fields": "fields"}


def draft(advised: Advised, advisor: Advisor, *, chat: bool) -> Advised:
    """The elements with drafts where the model's answers are valid. Never raises for a model."""
    inventory = advised.inventory
    asked = [(one, kind) for one in inventory.elements if (kind := wanted(one, chat=chat)) is not None]
    keys = {one.element_id: _key(advisor, inventory, one, kind) for one, kind in asked}
    keys[_SAMPLES] = _key(advisor, inventory, None, "samples")
    log: list[Diagnostic] = []
    found, calls = _collect(inventory, advisor, asked, keys, log)
    samples = found.get(keys[_SAMPLES], EMPTY).samples
    given = {one.element_id: found.get(keys[one.element_id], EMPTY) for one, _ in asked}
    drafted: dict[str, str] = {one.element_id: kind for one, kind in asked if given[one.element_id] != EMPTY}
    drafted |= {f"fixtures/{name}.py": "sample" for name, _ in zip(SAMPLED, samples)}
    notes = inventory.notes
    if drafted:
        listed = ", ".join(f"{name} ({kind})" for name, kind in drafted.items())
        notes = replace(notes, provenance=(*notes.provenance, f"Drafted by {advisor.label}: {listed}."))
    return replace(
        advised,
        inventory=replace(
            inventory,
            elements=tuple(
                _with(one, given.get(one.element_id, EMPTY), advisor) for one in inventory.elements
            ),
            notes=notes,
            diagnostics=(*inventory.diagnostics, *log),
        ),
        calls=advised.calls + calls,
        drafts=found,
        drafted=drafted,
        samples=samples,
    )


def _collect(
    inventory: Inventory,
    advisor: Advisor,
    asked: Sequence[tuple[Element, Wanted]],
    keys: dict[str, str],
    log: list[Diagnostic],
) -> tuple[dict[str, Draft], int]:
    """Drafts by key, stored or new, and the number of questions to the model."""
    found: dict[str, Draft] = {}
    open_parts: dict[str, tuple[Element, Wanted]] = {}  # elements that say the same share one question
    for one, kind in asked:
        key = keys[one.element_id]
        kept = _remembered(advisor, key, one.content_full, kind)
        if kept is not None:
            found[key] = kept
        else:
            open_parts.setdefault(key, (one, kind))
    kept = _remembered(advisor, keys[_SAMPLES], "", "samples")
    if kept is not None:
        found[keys[_SAMPLES]] = kept
    calls, missing, unsampled = 0, list(open_parts.values()), kept is None
    while (missing or unsampled) and not is_silent((*inventory.diagnostics, *log)):
        batch, missing = missing[:BATCH], missing[BATCH:]
        made = _ask(inventory, advisor, batch, log, samples=unsampled)
        found |= {keys[name]: one for name, one in made.items()}
        calls, unsampled = calls + 1, False
    return found, calls


def _key(advisor: Advisor, inventory: Inventory, element: Element | None, kind: Wanted) -> str:
    spec = inventory.spec
    said = (element.heading, rule_text(element)) if element is not None else (spec.name, "")
    return key_of(VERSION, advisor.label, kind, spec.description, *said)


def _remembered(advisor: Advisor, key: str, text: str, kind: Wanted) -> Draft | None:
    """A stored draft, if it still fits: somebody may have edited the package's file."""
    kept = advisor.remembered.drafts.get(key)
    try:
        settled = None if kept is None else settle(kind, text, kept)
    except UnfitError:
        return None
    return settled if settled == kept else None


def _ask(
    inventory: Inventory,
    advisor: Advisor,
    batch: Sequence[tuple[Element, Wanted]],
    log: list[Diagnostic],
    *,
    samples: bool,
) -> dict[str, Draft]:
    """A draft for every question, an empty one when the model gave none that fits; nothing when it gave no
    answer."""
    spec = inventory.spec
    place = Origin(spec.file, "project")
    asked = question(spec.name, spec.description, batch, samples=samples)
    answer = ask(advisor, system(), asked, SCHEMA, place, log)
    if answer is None:
        return {}
    if not any(name in answer for name in (*_ROWS.values(), _SAMPLES)):
        log.append(unreadable(advisor, place))
        return {}
    found = {element.element_id: EMPTY for element, _ in batch}
    reasons: list[tuple[Origin, str]] = []
    open_parts = {(element.element_id, kind): element for element, kind in batch}
    for kind, name, row in _rows(answer, place, reasons):
        element = open_parts.pop((name, kind), None)
        if element is None:
            reasons.append((place, f"it names {name[:40]!r}"))
            continue
        try:
            found[name] = settle(kind, element.content_full, _read(kind, row))
        except UnfitError as error:
            reasons.append((place_of(element), str(error)))
    if samples:
        found[_SAMPLES] = EMPTY
        try:
            found[_SAMPLES] = settle("samples", "", _read("samples", answer))
        except UnfitError as error:
            reasons.append((place, str(error)))
    log += ignored(advisor, reasons)
    return found


def _rows(
    answer: dict[str, Any], place: Origin, reasons: list[tuple[Origin, str]]
) -> Iterator[tuple[Wanted, str, dict[str, Any]]]:
    for kind, key in _ROWS.items():
        rows = rows_of(answer, key) if key in answer else []
        if rows is None:
            reasons.append((place, f"{key} is not a list of objects"))
        for row in rows or ():
            yield kind, str(row.get("id")), row


def _read(kind: Wanted, row: dict[str, Any]) -> Draft:
    """Read a row of an answer as a draft. Raises UnfitError for values of other types."""
    given: dict[str, Any] = {_SAMPLES: row.get(_SAMPLES, [])} if kind == "samples" else {kind: row.get(kind)}
    if kind == "check":
        given = {"check": row.get("function"), "arguments": row.get("arguments", [])}
        if isinstance(given["arguments"], list):
            given["arguments"] = [str(one) if type(one) is int else one for one in given["arguments"]]
    try:
        return msgspec.convert(given, Draft)
    except msgspec.ValidationError as error:
        raise UnfitError(f"{kind} has another type: {error}") from None


def _with(element: Element, drafted: Draft, advisor: Advisor) -> Element:
    if drafted == EMPTY:
        return element
    told = Drafted(
        by=advisor.label,
        check=drafted.check,
        arguments=drafted.arguments,
        labels=drafted.labels,
        fields=drafted.fields,
    )
    return replace(element, details=replace(element.prose, draft=told))
