"""Routes to steps that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.model.recipe import DONE, ESCALATE
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import Placed, placed
from checkrein.passes.recipes.routes import ROUTE_FIELDS


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        step = part.step
        for field in ROUTE_FIELDS:
            if field in step.spans:
                yield from _target(subject, part, field, getattr(step, field))
        for number, arm in enumerate(step.on_result):
            field = f"on_result[{number}].route"
            if step.routes_field is not None and arm.origin.field:
                field = arm.origin.field.removeprefix(f"{step.origin.field}.")
            yield from _target(subject, part, field, arm.route)


def _target(subject: Subject, part: Placed, field: str, target: str | None) -> Iterator[Finding]:
    names = {one.name for one in part.beside}
    may_escalate = field == "on_exhausted" or part.recipe.is_sub_recipe or part.around
    if target is None or target in names or target == DONE or (target == ESCALATE and may_escalate):
        return
    origin = subject.find(part.step.where(field), target)
    if target == ESCALATE:
        message = f"`{ESCALATE}` is a target of `on_exhausted` only, and no step has that name"
        hint = f"Name a step, or leave `{field}` out: the run then fails."
        yield Finding(origin=origin, message=message, hint=hint)
        return
    meant = nearest(target, names, 0.75)
    fix = edits.respell(subject, origin, target, meant) if meant else None
    message = f"The step `{part.step.name}` leads to `{target}`, which does not exist here"
    yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="RCP008",
    name="route-target-missing",
    severity="error",
    summary="A route leads to a step that does not exist.",
    why="A run that takes the route can't go on.",
    hint="Name a step of the same body, or `done`.",
    bad={RECIPE: recipe(TEST.replace("on_failure: failed", "on_failure: faild"))},
    good={RECIPE: recipe(TEST)},
    run=run,
    fixable=True,
)
