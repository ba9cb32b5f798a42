"""Recipes of one project that have the same name."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, recipe

_OTHER = ".checkrein/recipes/other.yaml"


def run(subject: Subject) -> Iterator[Finding]:
    for group in (subject.project.recipes, subject.project.sub_recipes):
        for resolved in group.values():
            for candidate in resolved.shadowed:
                loser = candidate.item
                if loser.digest != resolved.item.digest:
                    message = f"The recipe `{loser.name}` never runs: {candidate.lost}"
                    related = (resolved.item.where("name"),)
                    yield Finding(origin=loser.where("name"), message=message, related=related)


CHECK = Check(
    code="RCP024",
    name="recipe-name-twice",
    severity="warning",
    summary="Another recipe of the project has the same name and is used instead.",
    why="Changes to this file have no effect on any run.",
    hint="Rename one of them.",
    bad={RECIPE: recipe(), _OTHER: recipe(head="experimental: true\n")},
    good={RECIPE: recipe(), _OTHER: recipe(name="other")},
    run=run,
)
