"""Campaigns that do nothing."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import campaigns

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case in campaigns(subject):
        if not case.recipe.dispatches:
            yield Finding(
                origin=field(case.recipe, "kind"),
                message=f"The campaign `{case.recipe.name}` dispatches nothing",
            )


CHECK = Check(
    code="RCP121",
    name="campaign-has-dispatches",
    severity="error",
    summary="A campaign has no dispatches.",
    why="There is nothing that it could run.",
    hint="Add `dispatches`.",
    bad=campaign(""),
    good=campaign(_FIRST),
    run=run,
)
