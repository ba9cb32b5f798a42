"""References to values that no earlier step captures."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.expression import condition_references, references
from checkrein.model.recipe import Recipe, Step
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import recipes, texts
from checkrein.passes.recipes.captures import available

_TEST = TEST.replace("path: .", 'path: "${{ context.place }}"')
_FIND = """\
  find:
    tool: run_cmd
    with: {cmd: "echo place=.", cwd: .}
    capture: {place: "${{ result.place }}"}
    on_failure: failed
"""


def run(subject: Subject) -> Iterator[Finding]:
    for recipe_ in recipes(subject):
        yield from _recipe(subject, recipe_)


def _recipe(subject: Subject, recipe_: Recipe) -> Iterator[Finding]:
    for step, known in available(recipe_, subject.library):
        yield from _step(subject, step, known)


def _step(subject: Subject, step: Step, known: frozenset[str]) -> Iterator[Finding]:
    own = known | step.capture.keys() | step.capture_list.keys()
    for said in texts(step):
        found = condition_references(said.text) if said.is_condition else references(said.text)
        names = own if said.is_condition else known
        for one in found:
            missing = one.namespace == "context" and one.name not in names
            if missing and one.name not in step.optional_context_refs:
                origin = subject.find(said.origin, f"context.{one.name}")
                message = f"No step before `{step.name}` captures `{one.name}`"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="RCP014",
    name="context-not-captured",
    severity="error",
    summary="An expression refers to a value that no earlier step captures.",
    why="The expression has no value when the step starts, so the step fails.",
    hint="Capture it in a step further up, or list it in `optional_context_refs` if it may be missing.",
    bad={RECIPE: recipe(_TEST)},
    good={RECIPE: recipe(_FIND, _TEST)},
    run=run,
)
