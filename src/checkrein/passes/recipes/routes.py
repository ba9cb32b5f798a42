"""Where each step of a body leads. One place for what a missing route means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.model.recipe import DONE, ESCALATE, Arm, Branch, Recipe, Step

RouteKind = Literal["success", "failure", "context_limit", "exhausted", "result", "skip"]
ROUTE_FIELDS = ("on_success", "on_failure", "on_context_limit", "on_exhausted")
ACTIONS = ("route", "stop", "confirm", "wait", "constant")
"""Steps that no worker or tool does: they have no context limit and are never exhausted."""


class Route(Struct, frozen=True, kw_only=True):
    """One way out of a step. `is_written` tells a route of the file from one that a default gives."""

    kind: RouteKind
    target: str
    origin: Origin
    when: str | None = None
    is_written: bool = True


def bodies(recipe: Recipe) -> Iterator[tuple[Step, ...]]:
    """The steps of the recipe, then those of every body inside, outer ones first."""
    pending: list[tuple[Step, ...]] = [recipe.steps]
    while pending:
        steps = pending.pop(0)
        yield steps
        pending += [branch.steps for step in steps for branch in step.branches]


def every_step(recipe: Recipe) -> Iterator[Step]:
    for steps in bodies(recipe):
        yield from steps


def following(steps: Sequence[Step], step: Step) -> str:
    """The step below, where `on_success` is missing; `done` after the last."""
    at = next(number for number, one in enumerate(steps) if one is step)
    return steps[at + 1].name if at + 1 < len(steps) else DONE


def success_of(steps: Sequence[Step], step: Step) -> str | None:
    """The next step after a success; None when `on_result` decides, or the run ends here."""
    if step.on_success is not None:
        return step.on_success
    return None if step.on_result or step.kind == "stop" else following(steps, step)


def skipped_to(steps: Sequence[Step], step: Step) -> str:
    """The next step when this one is skipped: that of a success, or the route without a condition."""
    default = next((arm.route for arm in step.on_result if arm.when is None), None)
    return success_of(steps, step) or default or following(steps, step)


def routes(steps: Sequence[Step], step: Step) -> Iterator[Route]:
    """Every way that an engine can take from a step."""
    if step.kind == "stop":
        return
    success = success_of(steps, step)
    if success is not None:
        yield _route("success", success, step, "on_success")
    for arm in step.on_result:
        yield Route(kind="result", target=arm.route, when=arm.when, origin=arm.origin)
    if step.kind not in ("route", "constant"):
        yield _route("failure", step.on_failure or ESCALATE, step, "on_failure")
    if step.kind not in ACTIONS:
        yield _route(
            "context_limit", step.on_context_limit or step.on_failure or ESCALATE, step, "on_context_limit"
        )
        yield _route("exhausted", step.on_exhausted, step, "on_exhausted")
    if step.skip_when_false is not None:
        yield _route("skip", skipped_to(steps, step), step, "skip_when_false")


def _route(kind: RouteKind, target: str, step: Step, field: str) -> Route:
    return Route(kind=kind, target=target, origin=step.where(field), is_written=field in step.spans)


def rerouted(step: Step, change: Callable[[str], str]) -> Step:
    """The step with another target for each of its own; missing ones stay missing."""
    named = {field: getattr(step, field) for field in ROUTE_FIELDS}
    changed = {field: change(target) for field, target in named.items() if target is not None}
    arms = tuple(Arm(route=change(arm.route), when=arm.when, origin=arm.origin) for arm in step.on_result)
    return replace(step, on_result=arms, **changed)


def with_bodies(step: Step, change: Callable[[tuple[Step, ...]], tuple[Step, ...]]) -> Step:
    if not step.branches:
        return step
    branches = (Branch(name=one.name, steps=change(one.steps), origin=one.origin) for one in step.branches)
    return replace(step, branches=tuple(branches))
