"""`checkrein recipe reconcile`: say what became of a step whose worker died."""

from __future__ import annotations

from checkrein.cli.recipe_target import NOTE_ARG, RUN_ARG, RUN_ERRORS, STEP_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.recipes.journal import Verdict
from checkrein.recipes.views import RunView

COMMAND = Command(
    name="recipe reconcile",
    summary="Say what became of a step that may happen once and whose worker died in it.",
    args=(
        RUN_ARG,
        STEP_ARG,
        PROJECT_ARG,
        Arg(name="done", flags=("--done",), type="bool", help="It happened; go on as after a success."),
        Arg(
            name="failed", flags=("--failed",), type="bool", help="It did not work; go on as after a failure."
        ),
        Arg(name="again", flags=("--again",), type="bool", help="It did not happen; do it again."),
        NOTE_ARG,
    ),
    payload=RunView,
    errors=(*RUN_ERRORS, "step_not_waiting", "already_answered"),
    examples=(("checkrein recipe reconcile r-1f0a pay --done", "the payment is in the books"),),
)


def run(
    run_id: str, step: str, project: str, done: bool, failed: bool, again: bool, result: str | None
) -> Outcome:
    from checkrein.base.errors import UsageError
    from checkrein.cli.recipe_answer import answered

    require(project)
    chosen: list[Verdict] = []
    chosen += ["done"] if done else []
    chosen += ["failed"] if failed else []
    chosen += ["again"] if again else []
    if len(chosen) != 1:
        raise UsageError("One of --done, --failed and --again says what became of the step.")
    return answered(project, run_id, step, chosen[0], result)
