"""Names that no expression can refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.origin import Origin
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, ingredients, recipe
from checkrein.passes.checks.recipe_parts import placed, recipes

_NAME = re.compile(r"[\w-]+", re.ASCII)


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        for ingredient in one.ingredients:
            yield from _name(ingredient.name, ingredient.origin, "inputs")
    for part in placed(subject):
        step = part.step
        for field in ("capture", "capture_list"):
            for name in getattr(step, field):
                yield from _name(name, step.where(field), "context")
        if step.variable is not None:
            yield from _name(step.variable, step.where("as"), "context")


def _name(name: str, origin: Origin, namespace: str) -> Iterator[Finding]:
    if not _NAME.fullmatch(name):
        message = f"No expression can refer to `{name}`: `{namespace}.` takes letters, digits, `_` and `-`"
        yield Finding(origin=origin, message=message)


CHECK = Check(
    code="RCP025",
    name="name-not-referable",
    severity="error",
    summary="An input or a captured value has a name that no expression can hold.",
    why="The value exists, and no step can read it.",
    hint="Use letters, digits, `_` and `-`.",
    bad={RECIPE: recipe(head=ingredients('"base branch": {description: The base, default: main}'))},
    good={RECIPE: recipe(head=ingredients("base_branch: {description: The base, default: main}"))},
    run=run,
)
