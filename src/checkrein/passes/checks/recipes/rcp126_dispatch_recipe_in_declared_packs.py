"""Recipes outside what a campaign says it uses."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import targeted

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case, dispatch, target in targeted(subject):
        packs, allowed = case.recipe.requires_recipe_packs, case.recipe.allowed_recipes
        declared = target.name in allowed or {*target.categories} & {*packs}
        if declared or not (packs or allowed):
            continue
        message = f"`{dispatch.name}` runs `{target.name}`, which is in no declared pack"
        yield Finding(origin=field(dispatch, "recipe"), message=message)


CHECK = Check(
    code="RCP126",
    name="dispatch-recipe-in-declared-packs",
    severity="warning",
    summary="A dispatch runs a recipe of none of the declared packs.",
    why="`requires_recipe_packs` and `allowed_recipes` tell people what the campaign may run. "
    "This one is not in them.",
    hint="Add the recipe to `allowed_recipes`, or its category to `requires_recipe_packs`.",
    bad=campaign(_FIRST, top="kind: campaign\nallowed_recipes: [implement]\n"),
    good=campaign(_FIRST, top="kind: campaign\nallowed_recipes: [repair]\n"),
    run=run,
)
