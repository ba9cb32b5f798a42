"""Recipes without a name."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, recipe
from checkrein.passes.checks.recipe_parts import recipes


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        if "name" not in one.spans:
            yield Finding(
                origin=one.origin, message=f"The recipe has no name; `{one.name}` is that of its file"
            )


CHECK = Check(
    code="RCP001",
    name="recipe-name-missing",
    severity="error",
    summary="A recipe has no `name`.",
    why="People and campaigns call a recipe by its name; a file that is renamed would change it.",
    hint="Add `name:` at the top.",
    bad={RECIPE: recipe(name=None)},
    good={RECIPE: recipe()},
    run=run,
)
