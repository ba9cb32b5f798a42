"""Placeholders of sub-recipes that lack a gate or a way on."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.recipe import input_name
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, SUB_RECIPE, TEST, ingredients, recipe
from checkrein.passes.checks.recipe_parts import placed

_GATE = ingredients('careful: {description: Prepare first, default: "false"}')
_PREPARE = "  prepare: {sub_recipe: prepare, gate: %s, on_success: test, on_failure: failed}\n"
_SUB = recipe(TEST.replace("over", "done").replace("failed", "escalate"), name="prepare", ends="")


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        step = part.step
        if step.kind != "sub_recipe":
            continue
        if step.gate is None:
            yield Finding(origin=step.origin, message=f"The sub-recipe `{step.subject}` has no `gate`")
        elif part.recipe.ingredient(input_name(step.gate)) is None:
            message = f"The gate `{step.gate}` is not an input of the recipe"
            yield Finding(origin=step.where("gate"), message=message)
        if step.on_success is None:
            message = f"The sub-recipe `{step.subject}` has no `on_success`"
            yield Finding(origin=step.origin, message=message)


CHECK = Check(
    code="RCP015",
    name="sub-recipe-incomplete",
    severity="error",
    summary="A `sub_recipe` step lacks `on_success`, or a `gate` that the recipe declares.",
    why="Its steps can't be put in place: nothing says when they belong there, or what follows them.",
    hint="Name an input as the `gate`, and a step as `on_success`.",
    bad={RECIPE: recipe(_PREPARE % "carefull", TEST, head=_GATE), SUB_RECIPE: _SUB},
    good={RECIPE: recipe(_PREPARE % "careful", TEST, head=_GATE), SUB_RECIPE: _SUB},
    run=run,
)
