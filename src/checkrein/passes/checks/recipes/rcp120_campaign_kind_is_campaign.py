"""Dispatches in a recipe that is no campaign."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import campaigns

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case in campaigns(subject):
        if case.recipe.kind != "campaign":
            message = f"`{case.recipe.name}` has dispatches, and its kind is `{case.recipe.kind}`"
            yield Finding(origin=field(case.recipe, "dispatches"), message=message)


CHECK = Check(
    code="RCP120",
    name="campaign-kind-is-campaign",
    severity="error",
    summary="A recipe has dispatches and is not of the kind `campaign`.",
    why="Only campaigns run dispatches; here they are never started.",
    hint="Add `kind: campaign`.",
    bad=campaign(_FIRST, top="steps: {end: {action: stop, message: Finished}}\n"),
    good=campaign(_FIRST),
    run=run,
)
