"""Captures that take nothing from the result."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.expression import references
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, recipe
from checkrein.passes.checks.recipe_parts import placed

_STEP = """\
  count:
    tool: run_cmd
    with: {cmd: "echo lines=3", cwd: .}
    capture: {lines: "%s"}
    on_failure: failed
  tell:
    tool: run_cmd
    with: {cmd: "echo ${{ context.lines | quote }}", cwd: .}
    on_failure: failed
"""


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        if part.step.kind == "constant":
            continue
        for field in ("capture", "capture_list"):
            for name, text in getattr(part.step, field).items():
                if not any(one.namespace == "result" for one in references(text)):
                    message = f"`{name}` takes nothing from the result: `{text}`"
                    yield Finding(origin=part.step.where(f"{field}.{name}"), message=message)


CHECK = Check(
    code="RCP012",
    name="capture-without-result",
    severity="error",
    summary="A capture does not refer to the step's result.",
    why="Later steps read a value that has nothing to do with what the step did.",
    hint="Write `${{ result.FIELD }}`; a fixed value is a `constant` step.",
    bad={RECIPE: recipe(_STEP % "lines")},
    good={RECIPE: recipe(_STEP % "${{ result.lines }}")},
    run=run,
)
