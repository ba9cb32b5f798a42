"""Required inputs of a skill that nothing before the step provides."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_cards import CARD, REVIEW, SKILL_STEP, card, card_steps
from checkrein.passes.checks.recipe_examples import RECIPE, ingredients, recipe

_INPUT = ingredients("task: {description: What to review, default: all}")
_GOOD = recipe(SKILL_STEP % " ${{ inputs.task }}", head=_INPUT)


def run(subject: Subject) -> Iterator[Finding]:
    for one in card_steps(subject):
        for name in one.row.required:
            if name not in one.known and name not in one.passed:
                message = f"`{one.step.skill}` requires `{name}`, and no input or earlier step provides it"
                yield Finding(origin=one.step.origin, message=message, related=(one.origin,))


CHECK = Check(
    code="RCP021",
    name="contract-unsatisfied-input",
    severity="error",
    summary="A skill requires an input that the recipe does not have at that step.",
    why="The skill starts without the input.",
    hint="Capture it in an earlier step, or make it an ingredient.",
    bad=REVIEW | {RECIPE: _GOOD, CARD: card(required="plan_path")},
    good=REVIEW | {RECIPE: _GOOD, CARD: card(required="task")},
    run=run,
)
