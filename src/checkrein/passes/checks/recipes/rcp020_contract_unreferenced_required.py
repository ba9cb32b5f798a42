"""Required inputs of a skill that the card lists and the step does not pass on."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_cards import CARD, REVIEW, SKILL_STEP, card, card_steps
from checkrein.passes.checks.recipe_examples import RECIPE, ingredients, recipe

_INPUT = ingredients("task: {description: What to review, default: all}")


def run(subject: Subject) -> Iterator[Finding]:
    for one in card_steps(subject):
        for name in one.row.required:
            if name in one.known and name not in one.passed:
                message = (
                    f"The step `{one.step.name}` does not pass `{name}`, which `{one.step.skill}` requires"
                )
                yield Finding(origin=one.step.where("with"), message=message, related=(one.origin,))


CHECK = Check(
    code="RCP020",
    name="contract-unreferenced-required",
    severity="error",
    summary="A step has a value that its skill requires, and does not pass it on.",
    why="The skill starts without the input, although the recipe has it.",
    hint="Refer to it in `with`.",
    bad=REVIEW | {RECIPE: recipe(SKILL_STEP % "", head=_INPUT), CARD: card(required="task")},
    good=REVIEW
    | {RECIPE: recipe(SKILL_STEP % " ${{ inputs.task }}", head=_INPUT), CARD: card(required="task")},
    run=run,
)
