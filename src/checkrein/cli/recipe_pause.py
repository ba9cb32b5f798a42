"""`checkrein recipe pause`: let a run stop before its next step."""

from __future__ import annotations

from checkrein.cli.recipe_target import RUN_ARG, RUN_ERRORS
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.recipes.views import RunView

COMMAND = Command(
    name="recipe pause",
    summary="Let a run stop before its next step.",
    args=(RUN_ARG, PROJECT_ARG),
    payload=RunView,
    errors=(*RUN_ERRORS, "run_over"),
    examples=(("checkrein recipe pause r-1f0a", "recipe resume goes on"),),
)


def run(run_id: str, project: str) -> Outcome:
    from checkrein.serve.recipes.house import open_house

    require(project)
    with open_house(project) as house:
        view = house.desk.view(house.desk.pause(run_id).id)
    return Outcome(data=view, text=lambda: f"{view.run_id} pauses before its next step.")
