"""Dispatches without a task."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import dispatched

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case, dispatch in dispatched(subject):
        target = case.library.recipe(dispatch.recipe or "")
        wanted = target.ingredient("task") if target is not None else None
        needs = wanted is not None and wanted.required and wanted.default is None
        missing = dispatch.task is None and needs and "task" not in dispatch.ingredients
        if missing or (dispatch.task is not None and not dispatch.task.strip()):
            yield Finding(
                origin=field(dispatch, "task"),
                message=f"`{dispatch.name}` has no task for `{dispatch.recipe}`",
            )


CHECK = Check(
    code="RCP133",
    name="campaign-task-non-empty",
    severity="error",
    summary="A dispatch has no task, and its recipe needs one.",
    why="The run starts with nothing to do, or is refused.",
    hint="Say in `task` what the run has to do.",
    bad=campaign(_FIRST.replace("Mend it", "''")),
    good=campaign(_FIRST),
    run=run,
)
