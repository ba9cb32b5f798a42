"""Numbers of a step that make no sense."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import placed

_LEAST = {"retries": 0, "idle_output_timeout": 0, "limit": 1}
_POSITIVE = ("stale_threshold", "timeout")


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        for field, least in _LEAST.items():
            value = getattr(part.step, field)
            if value is not None and value < least:
                message = f"`{field}` must be at least {least}, not {value}"
                yield Finding(origin=part.step.where(field), message=message)
        for field in _POSITIVE:
            value = getattr(part.step, field)
            if value is not None and value <= 0:
                yield Finding(
                    origin=part.step.where(field), message=f"`{field}` must be above 0, not {value}"
                )


CHECK = Check(
    code="RCP009",
    name="step-number-out-of-range",
    severity="error",
    summary="A number of a step is too small.",
    why="A step can't be tried less than once, and a limit of nothing stops it before it starts.",
    hint="Give a number in the range, or leave the field out.",
    bad={RECIPE: recipe(TEST + "    retries: -1\n")},
    good={RECIPE: recipe(TEST + "    retries: 1\n")},
    run=run,
)
