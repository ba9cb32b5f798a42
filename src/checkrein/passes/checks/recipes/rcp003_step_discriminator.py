"""Steps that do nothing, or several things."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_fields import DISCRIMINATORS
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import placed


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        present = [key for key in DISCRIMINATORS if key in part.step.spans]
        if len(present) != 1:
            has = "none" if not present else " and ".join(present)
            message = (
                f"The step `{part.step.name}` needs exactly one of {', '.join(DISCRIMINATORS)}, and has {has}"
            )
            yield Finding(origin=part.step.origin, message=message)


CHECK = Check(
    code="RCP003",
    name="step-discriminator",
    severity="error",
    summary="A step does not have exactly one of the fields that say what it does.",
    why="Nobody can tell what to run.",
    hint="Keep one field, and make a step of its own for each of the others.",
    bad={RECIPE: recipe(TEST.replace("    tool: test_check\n", "    tool: test_check\n    constant: 1\n"))},
    good={RECIPE: recipe(TEST)},
    run=run,
)
