"""`checkrein recipe cancel`: end a run: its processes are ended, and nothing of it is recorded any more."""

from __future__ import annotations

from checkrein.cli.recipe_target import RUN_ARG, RUN_ERRORS
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.recipes.views import RunView

COMMAND = Command(
    name="recipe cancel",
    summary="End a run: its processes are ended, and nothing of it is recorded any more.",
    args=(RUN_ARG, PROJECT_ARG),
    payload=RunView,
    errors=(*RUN_ERRORS, "run_over"),
    examples=(("checkrein recipe cancel r-1f0a", "for good"),),
)


def run(run_id: str, project: str) -> Outcome:
    from checkrein.serve.recipes.house import open_house

    require(project)
    with open_house(project) as house:
        view = house.desk.view(house.desk.cancel(run_id).id)
    return Outcome(data=view, text=lambda: f"{view.run_id} is cancelled.")
