"""Inputs that a dispatched recipe does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import TASK, campaign
from checkrein.passes.checks.recipe_cases import meant, targeted

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"
_TARGETS = {"repair": TASK + "  branch: {description: The branch}\n"}


def run(subject: Subject) -> Iterator[Finding]:
    for _, dispatch, target in targeted(subject):
        known = {one.name for one in target.ingredients}
        for name in dispatch.ingredients:
            if name not in known:
                yield Finding(
                    origin=dispatch.where(f"ingredients.{name}"),
                    message=f"`{dispatch.name}` passes `{name}`, which `{dispatch.recipe}` does not take",
                    hint=meant(name, known),
                )


CHECK = Check(
    code="RCP128",
    name="dispatch-ingredients-keys-in-target-schema",
    severity="error",
    summary="A dispatch passes an input that its recipe does not declare.",
    why="The value reaches nothing, and the recipe runs without it.",
    hint="Name an ingredient of the recipe.",
    bad=campaign(_FIRST + "  ingredients: {branhc: work}\n", targets=_TARGETS),
    good=campaign(_FIRST + "  ingredients: {branch: work}\n", targets=_TARGETS),
    run=run,
)
