"""`checkrein recipe status`: the runs, or one of them with its steps."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.recipe_target import RUN_ERRORS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.recipes.views import RunView, WorkerView


class Payload(Struct, frozen=True):
    """Without a run: the newest runs, without their steps, and the workers that live."""

    runs: tuple[RunView, ...] = ()
    workers: tuple[WorkerView, ...] = ()


COMMAND = Command(
    name="recipe status",
    summary="List the runs of recipes and the workers, or show one run with its steps.",
    args=(
        Arg(name="run_id", metavar="RUN", help="The run, or the beginning of its name; without it, all."),
        PROJECT_ARG,
        Arg(name="limit", flags=("--limit",), type="int", default=20, help="Runs to list."),
    ),
    payload=Payload,
    errors=RUN_ERRORS,
    examples=(
        ("checkrein recipe status", "the newest runs"),
        ("checkrein recipe status r-1f0a", "each step with its state, time and cost"),
    ),
)


def run(run_id: str | None, project: str, limit: int) -> Outcome:
    from checkrein.cli.recipe_text import table, tree
    from checkrein.serve.recipes.house import open_house

    require(project)
    with open_house(project) as house:
        if run_id is not None:
            view = house.desk.view(run_id)
            return Outcome(data=Payload((view,)), text=lambda: tree(view))
        views, workers = house.desk.views(max(1, limit)), house.desk.workers()

    def text() -> str:
        count = len(workers)
        return f"{table(views)}\n{count} worker{'' if count == 1 else 's'}"

    return Outcome(data=Payload(tuple(views), tuple(workers)), text=text)
