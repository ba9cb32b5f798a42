"""Sub-recipes that contain themselves."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Files, Finding, Subject
from checkrein.passes.checks.kitchen_examples import RECIPES, example, recipe
from checkrein.passes.recipes.case import Case
from checkrein.passes.recipes.parents import sub_recipes

_TOP = "ingredients: {fast: {description: Whether to hurry, default: 'true'}}\n"
_STEPS = "first: {sub_recipe: prefix, gate: fast, on_success: done}"


def _sub(step: str) -> Files:
    return {f"{RECIPES}/sub-recipes/prefix.yaml": recipe(f"go: {step}", name="prefix", top=_TOP)}


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        if not case.recipe.is_sub_recipe:
            continue
        for _, step in case.steps:
            if step.kind == "sub_recipe" and case.recipe.name in _inside(case, str(step.subject)):
                message = f"`{step.name}` leads back to the sub-recipe `{case.recipe.name}` that it is in"
                yield Finding(origin=step.where("sub_recipe"), message=message)


def _inside(case: Case, name: str) -> frozenset[str]:
    """The sub-recipe and all that it names."""
    sub = case.library.sub_recipe(name)
    return frozenset((name, *(one.name for one in sub_recipes(sub, case.library)))) if sub else frozenset()


CHECK = Check(
    code="RCP108",
    name="circular-sub-recipe",
    severity="error",
    summary="A sub-recipe leads back to itself.",
    why="Merging it would never end, so the recipe can't run.",
    hint="Take one of the placeholders out.",
    bad=example(_STEPS, top=_TOP, more=_sub("{sub_recipe: prefix, gate: fast, on_success: done}")),
    good=example(_STEPS, top=_TOP, more=_sub("{action: route, on_success: done}")),
    run=run,
)
