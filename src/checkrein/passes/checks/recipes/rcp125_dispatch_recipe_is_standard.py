"""Campaigns of campaigns."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import TASK, campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import targeted

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for _, dispatch, target in targeted(subject):
        if target.kind != "standard":
            message = f"`{dispatch.name}` runs `{target.name}`, which is of the kind `{target.kind}`"
            yield Finding(origin=field(dispatch, "recipe"), message=message)


CHECK = Check(
    code="RCP125",
    name="dispatch-recipe-is-standard",
    severity="error",
    summary="A dispatch runs a recipe that is not of the kind `standard`.",
    why="Campaigns do not nest.",
    hint="Dispatch the recipes of the inner campaign instead.",
    bad=campaign(_FIRST, targets={"repair": TASK + "kind: food-truck\n"}),
    good=campaign(_FIRST),
    run=run,
)
