"""Recipes without constraints for models."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, recipe
from checkrein.passes.checks.recipe_parts import recipes


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        if one.kitchen_rules is None and one.kind != "campaign" and not one.is_sub_recipe:
            yield Finding(origin=one.where("name"), message=f"The recipe `{one.name}` has no `kitchen_rules`")


CHECK = Check(
    code="RCP016",
    name="kitchen-rules-missing",
    severity="error",
    summary="A recipe has no `kitchen_rules`.",
    why="A model that works for the recipe is not told what it must leave alone.",
    hint="Add `kitchen_rules:` with the constraints in prose.",
    bad={RECIPE: recipe(rules="")},
    good={RECIPE: recipe()},
    run=run,
)
