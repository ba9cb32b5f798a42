"""A campaign as a body of steps: each dispatch runs a recipe, each gate asks a person.

A dispatch that fails ends the campaign; with `continue_on_failure` only what depends on it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from checkrein.model.recipe import DONE, ESCALATE, Dispatch, Recipe
from checkrein.model.recipe_plan import PlanBody, PlanStep


def campaign_steps(recipe: Recipe) -> PlanBody:
    ordered = in_order(recipe)
    steps: dict[str, PlanStep] = {}
    for at, dispatch in enumerate(ordered):
        following = ordered[at + 1].name if at + 1 < len(ordered) else DONE
        failed = _past(ordered, at) if recipe.continue_on_failure else ESCALATE
        steps[dispatch.name] = _step(dispatch, following, failed)
    return PlanBody(name=recipe.name, steps=steps)


def in_order(recipe: Recipe) -> list[Dispatch]:
    """Each dispatch before those that depend on it, and those right after it; else the order of the file."""
    known = {one.name: one for one in recipe.dispatches}
    dependents: dict[str, list[Dispatch]] = {}
    for one in recipe.dispatches:
        for name in one.depends_on[:1]:
            dependents.setdefault(name, []).append(one)
    found: dict[str, Dispatch] = {}
    pending = [one for one in reversed(recipe.dispatches) if known.keys().isdisjoint(one.depends_on)]
    while pending:
        dispatch = pending.pop()
        if dispatch.name not in found:
            found[dispatch.name] = dispatch
            pending += reversed(dependents.get(dispatch.name, []))
    return list(found.values())


def _past(ordered: list[Dispatch], at: int) -> str:
    """The first dispatch after this one that does not depend on it; `done` when there is none."""
    left_out = {ordered[at].name}
    for other in ordered[at + 1 :]:
        if left_out.isdisjoint(other.depends_on):
            return other.name
        left_out.add(other.name)
    return DONE


def _step(dispatch: Dispatch, following: str, failed: str) -> PlanStep:
    arguments: Mapping[str, object] = dispatch.ingredients
    if dispatch.task is not None:
        arguments = {"task": dispatch.task, **arguments}
    skip = None if dispatch.skip_when is None else f"not ({dispatch.skip_when})"
    return PlanStep(
        name=dispatch.name,
        kind="confirm" if dispatch.gate is not None else "dispatch",
        origin=dispatch.origin,
        subject=dispatch.recipe,
        with_args=dict(arguments),
        capture=dispatch.capture,
        on_success=following,
        on_failure=failed,
        on_context_limit=failed,
        on_exhausted=failed,
        skip_when_false=skip,
        skipped_to=following,
        message=dispatch.message or "",
        effect="pure",
    )
