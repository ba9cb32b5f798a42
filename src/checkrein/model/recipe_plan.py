"""What the engine runs: a recipe whose sub-recipes are merged, whose inputs have values and whose routes all
lead somewhere. Only `checkrein.passes.recipes` makes one, and only from a recipe without errors."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.recipe import Arm, Effect, StepKind


class PlanBody(Struct, frozen=True, kw_only=True):
    """Steps by name, in the order of the file; the first is the entry."""

    name: str
    steps: dict[str, PlanStep]

    @property
    def entry(self) -> str:
        return next(iter(self.steps))


class PlanStep(Struct, frozen=True, kw_only=True):
    """A step with every default filled in. `on_success` None means that `on_result` decides; without a
    condition that holds, the step has failed.

    Targets are step names of the same body, `done` or `escalate` (unless a step has that name); the reader of
    a plan never meets another. `skip_when_false` is a condition: when it does not hold, the step is skipped
    and `skipped_to` is next. `optional_refs` are names of the context that may be missing.

    `with_args`, `message` and the `subject` of a `foreach` still hold expressions. A `wait` has `seconds` or
    `until` in `with_args`. The subject of a `dispatch` is the recipe that it runs with `with_args` as inputs.
    """

    name: str
    kind: StepKind
    origin: Origin
    subject: Any = None
    with_args: dict[str, Any] = {}
    capture: dict[str, str] = {}
    capture_list: dict[str, str] = {}
    on_success: str | None = None
    on_failure: str
    on_context_limit: str
    on_exhausted: str
    on_result: tuple[Arm, ...] = ()
    retries: int = 0
    skip_when_false: str | None = None
    skipped_to: str
    message: str = ""
    model: str | None = None
    stale_threshold: float | None = None
    idle_output_timeout: float | None = None
    timeout: float | None = None
    effect: Effect = "once"
    queue: str | None = None
    optional_refs: frozenset[str] = frozenset()
    variable: str | None = None
    limit: int | None = None
    bodies: tuple[PlanBody, ...] = ()


class Plan(Struct, frozen=True, kw_only=True):
    """`digest` is that of every file that took part; a run goes on only under the digest it began with.
    `enabled` are subsets and packs that a person switched on for this run alone.
    In a campaign, captured values are `campaign` as well as `context`."""

    name: str
    origin: Origin
    inputs: dict[str, Any]
    body: PlanBody
    packs: tuple[str, ...] = ()
    enabled: tuple[str, ...] = ()
    is_campaign: bool = False
    rules: tuple[str, ...] = ()
    workspace: str | None = None
    digest: str
