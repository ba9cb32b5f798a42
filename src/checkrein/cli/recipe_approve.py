"""`checkrein recipe approve`: say yes to a step of a run that waits for an answer."""

from __future__ import annotations

from checkrein.cli.recipe_target import NOTE_ARG, RUN_ARG, RUN_ERRORS, STEP_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.recipes.views import RunView

COMMAND = Command(
    name="recipe approve",
    summary="Say yes to a step of a run that waits for an answer.",
    args=(RUN_ARG, STEP_ARG, PROJECT_ARG, NOTE_ARG),
    payload=RunView,
    errors=(*RUN_ERRORS, "step_not_waiting", "already_answered"),
    examples=(("checkrein recipe approve r-1f0a ship", "the run goes on with on_success"),),
)


def run(run_id: str, step: str, project: str, result: str | None) -> Outcome:
    from checkrein.cli.recipe_answer import answered

    require(project)
    return answered(project, run_id, step, "approve", result)
