"""Recipes for an older version."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein import __version__
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.versions import installed_for, is_below, version_field


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        recipe, installed = case.recipe, installed_for(case.recipe)
        if is_below(recipe.version, installed):
            message = f"The recipe is for version {recipe.version}, and {installed} reads it"
            yield Finding(origin=recipe.where(version_field(recipe) or "name"), message=message)


CHECK = Check(
    code="RCP040",
    name="outdated-recipe-version",
    severity="warning",
    summary="The recipe was written for an older version.",
    why="Fields may have changed their meaning since; the recipe runs as the present version reads it.",
    hint="Run `checkrein recipe migrate --write`, and look at the change.",
    bad=example("end: {action: stop, message: Finished}", top="checkrein_version: 0.0.1\n"),
    good=example("end: {action: stop, message: Finished}", top=f"checkrein_version: {__version__}\n"),
    run=run,
)
