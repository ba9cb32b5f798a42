"""Results that are too large for the journal: a file keeps them whole, the journal their ends."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from checkrein.base.files import write_atomic
from checkrein.recipes.outcome import Outcome
from checkrein.recipes.port import Task

LARGEST = 64 << 10
"""Bytes of a result that the journal takes as it is."""
_TEXT = 4_000
FIELD = "artifact"


def kept(outcome: Outcome, task: Task, folder: str | None) -> Outcome:
    """The outcome for the journal. Without a folder it stays whole."""
    if folder is None:
        return outcome
    data = msgspec.json.encode(outcome.result, enc_hook=str)
    if len(data) <= LARGEST:
        return outcome
    name = re.sub(r"[^\w.@-]+", "-", task.path).strip("-")
    file = Path(folder) / f"{name}-{task.attempt}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(file, data)
    short: dict[str, Any] = {key: _end(value) for key, value in outcome.result.items()}
    if len(msgspec.json.encode(short, enc_hook=str)) > LARGEST:
        short = {key: value for key, value in short.items() if not isinstance(value, (list, dict))}
    return replace(outcome, result={**short, FIELD: str(file)})


def _end(value: Any) -> Any:
    return f"…{value[-_TEXT:]}" if isinstance(value, str) and len(value) > _TEXT else value
