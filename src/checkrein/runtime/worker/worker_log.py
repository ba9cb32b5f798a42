"""What workers cost and how they ended: one line for each, in the Checkrein home. No text of a session is in
it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from checkrein.base import jsonl
from checkrein.base.clock import timestamp
from checkrein.base.home import checkrein_home, private_dir
from checkrein.runtime.worker.skill_result import SkillResult

_LARGEST = 5 << 20
_OLD = ".old.jsonl"


class Entry(Struct, frozen=True, kw_only=True):
    at: str
    skill: str
    step: str
    order_id: str | None
    backend: str
    cwd: str
    outcome: str
    state: str
    subtype: str
    retry_reason: str
    kill_reason: str
    exit_code: int
    session_id: str
    seconds: float
    writes: int
    tokens: dict[str, Any]


def log_file(env: Mapping[str, str] | None = None) -> Path:
    return checkrein_home(env) / "workers" / "workers.jsonl"


def record(found: SkillResult, *, cwd: str, step: str, seconds: float, env: Mapping[str, str]) -> None:
    import msgspec

    entry = Entry(
        at=timestamp(),
        skill=found.skill,
        step=step or found.skill,
        order_id=found.order_id,
        backend=found.backend,
        cwd=cwd,
        outcome=found.outcome,
        state=found.state,
        subtype=found.subtype,
        retry_reason=found.retry_reason,
        kill_reason=found.kill_reason,
        exit_code=found.exit_code,
        session_id=found.session_id,
        seconds=round(seconds, 3),
        writes=found.write_call_count,
        tokens=msgspec.to_builtins(found.token_usage),
    )
    path = log_file(env)
    private_dir(path.parent)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        if os.fstat(descriptor).st_size > _LARGEST:
            os.replace(path, path.with_suffix(_OLD))
        jsonl.append(descriptor, entry)
    finally:
        os.close(descriptor)


def entries(env: Mapping[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """Oldest first."""
    path = log_file(env)
    for file in (path.with_suffix(_OLD), path):
        if file.is_file():
            yield from (value for _, value in jsonl.read(file) if isinstance(value, dict))
