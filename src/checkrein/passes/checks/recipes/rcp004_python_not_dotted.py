"""Python steps that name no function of a module."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, recipe
from checkrein.passes.checks.recipe_parts import placed


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        words = str(part.step.subject).split(".")
        if part.step.kind == "python" and (len(words) < 2 or not all(word.isidentifier() for word in words)):
            message = f"`{part.step.subject}` is not a dotted name such as `package.module.function`"
            yield Finding(origin=part.step.where("python"), message=message)


CHECK = Check(
    code="RCP004",
    name="python-not-dotted",
    severity="error",
    summary="A `python` step does not name a function by its dotted path.",
    why="The interpreter can't find what to call.",
    hint="Write the module and the function: `package.module.function`.",
    bad={RECIPE: recipe("  count: {python: count, on_failure: failed}\n")},
    good={RECIPE: recipe("  count: {python: tools.count.lines, on_failure: failed}\n")},
    run=run,
)
