"""Ends that are written as if something followed."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import FAILED, RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import placed
from checkrein.passes.recipes.routes import ROUTE_FIELDS


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        step = part.step
        for field in (*ROUTE_FIELDS, "on_result"):
            if step.kind == "stop" and field in step.spans:
                message = f"`{field}` of the step `{step.name}` is never taken: the run stops there"
                yield Finding(origin=step.where(field), message=message)


CHECK = Check(
    code="RCP007",
    name="stop-with-route",
    severity="error",
    summary="A `stop` step has a route.",
    why="The run ends at this step, so the route is never taken.",
    hint="Remove the route, or make the step a `route`.",
    bad={
        RECIPE: recipe(
            TEST.replace("over", "well"),
            "  well: {action: stop, message: All is well., on_success: failed}\n",
            ends=FAILED,
        )
    },
    good={
        RECIPE: recipe(
            TEST.replace("over", "well"), "  well: {action: stop, message: All is well.}\n", ends=FAILED
        )
    },
    run=run,
)
