"""Routes that ask for a result which the step does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.expression import condition_references
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, ingredients, recipe
from checkrein.passes.checks.recipe_parts import placed

_INPUT = ingredients("quick: {description: Leave the tests out, default: no}")
_ROUTE = """\
  choose:
    action: route
    on_result:
      - {when: "${{ %s }} == yes", route: over}
      - {route: test}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        step = part.step
        for arm in step.on_result if step.kind == "route" else ():
            for one in condition_references(arm.when or ""):
                if one.namespace == "result":
                    origin = subject.find(arm.origin, f"result.{one.name}")
                    message = f"The step `{step.name}` runs nothing, so `result.{one.name}` has no value"
                    yield Finding(origin=origin, message=message)


CHECK = Check(
    code="RCP027",
    name="result-of-nothing",
    severity="error",
    summary="A `route` step decides by a result that it does not have.",
    why="Only a model that reads the notes could make up the value; the engine can't take any route.",
    hint="Decide by `context.` or `inputs.`, in the step that has the result, or with `foreach` for a loop.",
    bad={RECIPE: recipe(_ROUTE % "result.next", TEST)},
    good={RECIPE: recipe(_ROUTE % "inputs.quick", TEST, head=_INPUT)},
    run=run,
)
