"""Results that are too large for the journal: a file keeps them whole, the journal their ends."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from checkrein.base.errors import RunError
from checkrein.base.files import write_atomic
from checkrein.recipes.outcome import Outcome
from checkrein.recipes.port import Task

LARGEST = 64 << 10
"""Bytes of a result that the journal takes as it is."""
_TEXT = 4_000
_NAME = 100
FIELD = "artifact"


def kept(outcome: Outcome, task: Task, folder: str | None, cwd: str = "") -> Outcome:
    """The outcome for the journal. Without a folder it stays whole. A folder below `cwd`, where the step
    worked, is never reached through links."""
    if folder is None:
        return outcome
    data = msgspec.json.encode(outcome.result, enc_hook=str)
    if len(data) <= LARGEST:
        return outcome
    digest = hashlib.sha256(task.path.encode()).hexdigest()[:8]
    name = re.sub(r"[^\w.@-]+", "-", task.path).strip("-")[-_NAME:]
    place = Path(folder)
    if cwd and place.is_relative_to(cwd) and place.resolve() != Path(cwd).resolve() / place.relative_to(cwd):
        raise RunError(
            f"{folder} leads out of the workspace, and the result is not written.", kind="artifact_refused"
        )
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{name}-{digest}-{task.attempt}.json"
    write_atomic(file, data)
    short: dict[str, Any] = {key: _end(value) for key, value in outcome.result.items()}
    if len(msgspec.json.encode(short, enc_hook=str)) > LARGEST:
        short = {key: value for key, value in short.items() if not isinstance(value, (list, dict))}
    return replace(outcome, result={**short, FIELD: str(file)})


def _end(value: Any) -> Any:
    return f"…{value[-_TEXT:]}" if isinstance(value, str) and len(value) > _TEXT else value
