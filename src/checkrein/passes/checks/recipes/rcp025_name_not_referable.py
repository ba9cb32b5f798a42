"""Names that no expression, journal or answer can refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.origin import Origin
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, ingredients, recipe
from checkrein.passes.checks.recipe_parts import placed, recipes

_NAME = re.compile(r"[\w-]+", re.ASCII)
_STEP = re.compile(r"[\w.-]+")


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        for ingredient in one.ingredients:
            yield from _name(ingredient.name, ingredient.origin, "inputs")
        for dispatch in one.dispatches:
            yield from _step(dispatch.name, dispatch.origin, "dispatch")
    for part in placed(subject):
        step = part.step
        yield from _step(step.name, step.origin, "step")
        for branch in step.branches:
            if step.kind == "parallel":
                yield from _step(branch.name, branch.origin, "branch")
        for field in ("capture", "capture_list"):
            for name in getattr(step, field):
                yield from _name(name, step.where(field), "context")
        if step.variable is not None:
            yield from _name(step.variable, step.where("as"), "context")


def _name(name: str, origin: Origin, namespace: str) -> Iterator[Finding]:
    if not _NAME.fullmatch(name):
        message = f"No expression can refer to `{name}`: `{namespace}.` takes letters, digits, `_` and `-`"
        yield Finding(origin=origin, message=message)


def _step(name: str, origin: Origin, what: str) -> Iterator[Finding]:
    """The journal, keys and answers name a step by its path: `each[2]/build@3` must be one step alone."""
    if name and not _STEP.fullmatch(name):
        message = (
            f"The {what} `{name}` can't be told from others: names take letters, digits, `_`, `-` and `.`"
        )
        yield Finding(origin=origin, message=message)


CHECK = Check(
    code="RCP025",
    name="name-not-referable",
    severity="error",
    summary="An input, a captured value or a step has a name that nothing can refer to.",
    why="No step can read such a value, and an answer to one step could count for another.",
    hint="Use letters, digits, `_` and `-`.",
    bad={RECIPE: recipe(head=ingredients('"base branch": {description: The base, default: main}'))},
    good={RECIPE: recipe(head=ingredients("base_branch: {description: The base, default: main}"))},
    run=run,
)
