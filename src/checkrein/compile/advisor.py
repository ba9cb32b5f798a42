"""A model that compile may ask, the answers that packages keep, and one way to ask.

Nothing here raises for a model. When it fails or its answer is unreadable, there is a warning and the rules
decide.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError
from checkrein.base.origin import Origin
from checkrein.compile.artifacts import AdviceFile, Answer, Draft
from checkrein.llm.port import Cancel, Model, Request, SystemBlock, collect, user

FILE = "model_advice.json"
BATCH = 40
_TOLD = 10


class Memory(Struct, frozen=True):
    """Answers by the hash of the question."""

    answers: dict[str, Answer] = {}
    drafts: dict[str, Draft] = {}


class Advisor(Struct, frozen=True):
    """`label` is what the package says about the model: provider and name, no path of this machine. `open`
    gives the model and the name to ask it by; compile calls it when there is something to ask."""

    open: Callable[[], tuple[Model, str]]
    label: str
    remembered: Memory = Memory()


def read_memory(root: str) -> Memory:
    """The answers in packages below `root`. A file that can't be read gives none."""
    found = Memory({}, {})
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "*_mellea", "intermediate", FILE))):
        try:
            with open(path, "rb") as file:
                kept = msgspec.json.decode(file.read(), type=AdviceFile)
        except (OSError, msgspec.DecodeError, RecursionError):
            continue
        found.answers.update(kept.answers)
        found.drafts.update(kept.drafts)
    return found


def key_of(*said: str) -> str:
    return hashlib.sha256(json.dumps(said).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def ask(
    advisor: Advisor, system: str, question: str, schema: dict[str, Any], place: Origin, log: list[Diagnostic]
) -> dict[str, Any] | None:
    """The object in the model's answer, also inside a fence; None, with a warning, when there is none."""
    try:
        model, name = advisor.open()
        request = Request(
            model=name,
            system=(SystemBlock(system),),
            messages=(user(question),),
            max_tokens=8_000,
            output_schema=schema,
        )
        text = collect(model.stream(request, Cancel())).text
    except CheckreinError as error:
        said = f"{advisor.label} did not answer; the rules decide alone: {error}"
        log.append(Diagnostic("COMPILE001", "warning", said, place, hint=error.hint))
        return None
    start, end = text.find("{"), text.rfind("}")
    try:
        found = msgspec.json.decode(text[start : end + 1] if start >= 0 else text)
    except (msgspec.DecodeError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    log.append(unreadable(advisor, place))
    return None


def is_silent(log: Iterable[Diagnostic]) -> bool:
    """Whether the model failed before: this compile does not ask it again."""
    return any(one.code == "COMPILE001" for one in log)


def rows_of(answer: dict[str, Any], name: str) -> list[dict[str, Any]] | None:
    """A list of objects in an answer; None when it is something else."""
    rows = answer.get(name)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    return rows


def unreadable(advisor: Advisor, place: Origin) -> Diagnostic:
    return Diagnostic("COMPILE002", "warning", f"{advisor.label} gave an answer that can't be read", place)


def ignored(advisor: Advisor, reasons: Sequence[tuple[Origin, str]]) -> list[Diagnostic]:
    """A warning for each answer that does not fit; after a few, one for all others."""
    said = f"compile ignored an answer of {advisor.label}: "
    told = [Diagnostic("COMPILE002", "warning", said + reason, place) for place, reason in reasons[:_TOLD]]
    if len(reasons) > _TOLD:
        rest = f"compile ignored {len(reasons) - _TOLD} more answers of {advisor.label}"
        told.append(Diagnostic("COMPILE002", "warning", rest, reasons[-1][0]))
    return told
