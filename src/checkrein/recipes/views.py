"""Runs and workers as people and programs see them."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from checkrein.recipes.journal import Entry, Wait

RunState = Literal[
    "queued", "running", "waiting", "paused", "done", "failed", "stopped", "cancelled", "crashed"
]
OVER: tuple[RunState, ...] = ("done", "failed", "stopped", "cancelled", "crashed")


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of the journal with its moments. `branch` is the body that it stands in."""

    run_id: str
    name: str
    entry: Entry
    began: float
    ended: float
    branch: str = ""


class Running(Struct, frozen=True, kw_only=True):
    """A step that some worker runs now."""

    run_id: str
    path: str
    since: float
    worker: str


class RunView(Struct, frozen=True, kw_only=True):
    """A run as it stands. `waits` says what it waits for. `running` has the steps that run now, `captured`
    the variables of a run that is over."""

    run_id: str
    recipe: str
    state: RunState
    created: float
    updated: float
    queue: str
    step: str = ""
    message: str = ""
    worker: str = ""
    usd: float = 0.0
    tokens: int = 0
    waits: tuple[Wait, ...] = ()
    running: tuple[Running, ...] = ()
    steps: tuple[Line, ...] = ()
    is_failure: bool = False
    captured: dict[str, Any] = {}

    @property
    def exit_status(self) -> int:
        """Of a command that has waited for the run."""
        return 1 if self.is_failure or self.state in ("failed", "cancelled", "crashed") else 0


class WorkerView(Struct, frozen=True, kw_only=True):
    worker: str
    machine: str
    kind: str
    pid: int
    began: float
    running: tuple[Running, ...] = ()
