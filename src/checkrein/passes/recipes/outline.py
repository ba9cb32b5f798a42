"""A recipe as rows: its inputs, and its steps with where they lead."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.recipe import Effect, Recipe, Step, StepKind


class InputRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    description: str = ""
    required: bool = False
    default: str | None = None
    type: str = "string"
    hidden: bool = False
    authority: str | None = None


class StepRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`routes` are pairs of the outcome (a condition, or success, failure, ...) and the next step. `inside`
    are the steps of bodies."""

    name: str
    kind: StepKind
    what: str
    effect: Effect
    origin: Origin
    routes: tuple[tuple[str, str], ...] = ()
    captures: tuple[str, ...] = ()
    inside: tuple[StepRow, ...] = ()


def inputs_of_recipe(recipe: Recipe) -> tuple[InputRow, ...]:
    return tuple(
        InputRow(
            name=one.name,
            description=one.description,
            required=one.required,
            default=one.default,
            type=one.type,
            hidden=one.hidden,
            authority=one.authority,
        )
        for one in recipe.ingredients
    )


def steps_of(steps: Sequence[Step]) -> tuple[StepRow, ...]:
    from checkrein.passes.recipes.diagrams import drawn, summary
    from checkrein.passes.recipes.plan import default_effect

    return tuple(
        StepRow(
            name=step.name,
            kind=step.kind,
            what=summary(step),
            effect=step.effect or default_effect(step),
            origin=step.origin,
            routes=tuple((route.when or route.kind, route.target) for route in drawn(steps, step)),
            captures=(*step.capture, *step.capture_list),
            inside=tuple(row for branch in step.branches for row in steps_of(branch.steps)),
        )
        for step in steps
    )
