"""Recipes, loops and branches without a step."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import OVER, RECIPE, recipe
from checkrein.passes.checks.recipe_parts import placed, recipes


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        if not one.steps and one.kind != "campaign":
            yield Finding(origin=one.where("steps"), message=f"The recipe `{one.name}` has no steps")
    for part in placed(subject):
        step = part.step
        if step.kind in ("foreach", "parallel") and not step.branches:
            message = f"The step `{step.name}` has nothing to run: it needs `steps`"
            if step.kind == "parallel":
                message = f"The step `{step.name}` has no branches"
            yield Finding(origin=step.origin, message=message)
        for branch in step.branches:
            if not branch.steps:
                message = f"A body of the step `{step.name}` has no steps"
                yield Finding(origin=branch.origin, message=message)


CHECK = Check(
    code="RCP002",
    name="recipe-without-steps",
    severity="error",
    summary="A recipe, or a body inside it, has no steps.",
    why="There is nothing to run.",
    hint="Add at least one step.",
    bad={RECIPE: recipe("  each: {foreach: [1, 2], steps: {}}\n", ends=OVER)},
    good={
        RECIPE: recipe(
            "  each: {foreach: [1, 2], steps: {look: {tool: test_check, with: {worktree_path: .}}}}\n",
            ends=OVER,
        )
    },
    run=run,
)
