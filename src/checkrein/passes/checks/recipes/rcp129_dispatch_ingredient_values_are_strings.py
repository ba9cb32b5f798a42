"""Inputs that are no texts."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import TASK, campaign
from checkrein.passes.checks.recipe_cases import dispatched

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"
_TARGETS = {"repair": TASK + "  branch: {description: The branch}\n"}


def run(subject: Subject) -> Iterator[Finding]:
    for _, dispatch in dispatched(subject):
        for name, value in dispatch.ingredients.items():
            if not isinstance(value, str):
                message = f"`{dispatch.name}` passes `{name}` as a {type(value).__name__}, not as a text"
                yield Finding(origin=dispatch.where(f"ingredients.{name}"), message=message)


CHECK = Check(
    code="RCP129",
    name="dispatch-ingredient-values-are-strings",
    severity="error",
    summary="A dispatch passes an input that is not a text.",
    why="Inputs are texts. What YAML reads as a number or a truth value may come out in another spelling.",
    hint="Put the value into quotes.",
    bad=campaign(_FIRST + "  ingredients: {branch: 12}\n", targets=_TARGETS),
    good=campaign(_FIRST + "  ingredients: {branch: '12'}\n", targets=_TARGETS),
    run=run,
)
