"""What a run writes down: entries of steps, ends of bodies, what it waits for, what people answered."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

EntryState = Literal[
    "success",
    "failure",
    "context_limit",
    "again",
    "later",
    "skipped",
    "started",
    "asked",
    "waited",
]
WaitKind = Literal["confirm", "reconcile", "pause", "timer", "branches", "handover"]
Verdict = Literal["approve", "reject", "done", "failed", "again"]
EndState = Literal["done", "failed", "stopped", "waiting"]


class Entry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the journal. `path` names the step instance: `each[2]/build@3` is the third visit of
    `build` in the third item of `each`. `started` stands before an effect that may happen once; `token` tells
    the attempt that wrote it from one that reads it. `shown` is what a person saw, `by` and `at` who answered
    and when."""

    path: str
    step: str
    kind: str
    state: EntryState
    tool: str | None = None
    attempt: int = 1
    result: dict[str, Any] = {}
    reason: str = ""
    problem: str = ""
    usd: float = 0.0
    tokens: int = 0
    pause: float = 0.0
    token: str = ""
    worker: str = ""
    shown: str = ""
    by: str = ""
    at: float = 0.0
    until: float = 0.0


class Wait(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a body can't go on now. `round` counts the questions about one step. `branches` are the bodies
    that a `parallel` or `foreach` waits for."""

    kind: WaitKind
    path: str
    shown: str = ""
    until: float | None = None
    round: int = 1
    branches: tuple[str, ...] = ()


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person said about a waiting step. `result` stands for the result of a step that was done."""

    verdict: Verdict
    by: str
    at: float
    result: dict[str, Any] = {}


class End(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a body ended. `captured` are its variables. A `stopped` one ends the whole run; `is_failure` says
    whether that is bad."""

    state: EndState
    step: str = ""
    message: str = ""
    is_failure: bool = False
    captured: dict[str, Any] = {}
    waits: tuple[Wait, ...] = ()
