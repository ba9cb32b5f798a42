"""What a transcript knows of a subagent: enough to tell of its end, and to continue it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

TaskState = Literal["running", "completed", "failed", "stopped"]
STATE_KEY = "task:"
"""The state of a session has each task under its id, after this."""


class KeptTask(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`call` is the call that started it last. `delivered`: the model has the report. `cut` says why the
    report is not all. `on_purpose`: somebody stopped it, so nobody continues it. `worktree` is the
    directory that it works in, `team` the team that it is in."""

    id: str
    type: str
    call: str
    description: str
    state: TaskState = "running"
    name: str | None = None
    model: str | None = None
    background: bool = False
    delivered: bool = False
    report: str = ""
    cut: str = ""
    on_purpose: bool = False
    worktree: str | None = None
    team: str | None = None
