"""Packs of recipes that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.kitchen import categories
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import TASK, campaign
from checkrein.passes.checks.recipe_cases import campaigns, meant

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"
_TOP = "kind: campaign\nrequires_recipe_packs: [PACK]\nallowed_recipes: [repair]\n"
_TARGETS = {"repair": TASK + "categories: [bugs]\n"}


def run(subject: Subject) -> Iterator[Finding]:
    for case in campaigns(subject):
        known = {
            *categories(),
            *(one for held in case.library.recipes.values() for one in held.item.categories),
        }
        for number, name in enumerate(case.recipe.requires_recipe_packs):
            if name not in known:
                yield Finding(
                    origin=case.recipe.where(f"requires_recipe_packs[{number}]"),
                    message=f"`requires_recipe_packs` names `{name}`, which no recipe has",
                    hint=meant(name, known),
                )


CHECK = Check(
    code="RCP127",
    name="campaign-requires-recipe-packs-exist",
    severity="warning",
    summary="`requires_recipe_packs` names a pack that nothing has.",
    why="No recipe and no skill carries this category, so the line says nothing.",
    hint="Name a category of a recipe.",
    bad=campaign(_FIRST, top=_TOP.replace("PACK", "bugz"), targets=_TARGETS),
    good=campaign(_FIRST, top=_TOP.replace("PACK", "bugs"), targets=_TARGETS),
    run=run,
)
