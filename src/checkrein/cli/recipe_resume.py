"""`checkrein recipe resume`: go on with a run, here or on a worker."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.recipe_target import RIGHTS_ARGS, RUN_ARG, RUN_ERRORS, RUN_EXITS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.recipes.views import RunView

COMMAND = Command(
    name="recipe resume",
    summary="Go on with a run that is paused, was answered, or has lost its worker.",
    args=(
        RUN_ARG,
        PROJECT_ARG,
        Arg(name="detach", flags=("--detach", "-d"), type="bool", help="Leave it to a worker, and return."),
        *RIGHTS_ARGS,
    ),
    payload=RunView,
    errors=(*RUN_ERRORS, "run_over"),
    exits=RUN_EXITS,
    examples=(("checkrein recipe resume r-1f0a", "from the last recorded step on"),),
)


class Given(Struct, frozen=True, kw_only=True):
    run_id: str
    project: str
    detach: bool
    permission_mode: str | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    trust: bool


def run(given: Given) -> Outcome:
    from checkrein.cli.recipe_target import rights
    from checkrein.cli.recipe_text import Progress, tree
    from checkrein.serve.recipes.house import open_house

    require(given.project)
    with open_house(given.project) as house:
        row = house.desk.go_on(given.run_id)
        if given.detach:
            view = house.desk.view(row.id)
        else:
            options = rights(given.permission_mode, given.allow, given.deny, given.trust)
            view = house.go_on_here(row.id, options, Progress())
    return Outcome(data=view, text=lambda: tree(view), status=view.exit_status)
