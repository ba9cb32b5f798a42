"""Campaigns for a newer version."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein import __version__
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.recipe_cases import campaigns
from checkrein.passes.recipes.versions import installed_for, is_below, version_field

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case in campaigns(subject):
        recipe, installed = case.recipe, installed_for(case.recipe)
        if is_below(installed, recipe.version):
            message = f"The campaign is for version {recipe.version}, and {installed} reads it"
            yield Finding(origin=recipe.where(version_field(recipe) or "name"), message=message)


CHECK = Check(
    code="RCP137",
    name="autoskillit-version-compatible",
    severity="warning",
    summary="A campaign was written for a newer version.",
    why="Fields that this version does not know have no effect.",
    hint="Update, or write the version that the campaign really needs.",
    bad=campaign(_FIRST, top="kind: campaign\ncheckrein_version: 99.0.0\n"),
    good=campaign(_FIRST, top=f"kind: campaign\ncheckrein_version: {__version__}\n"),
    run=run,
)
