"""`checkrein recipe logs`: the journal of a run as JSON lines."""

from __future__ import annotations

from checkrein.cli.recipe_target import RUN_ARG, RUN_ERRORS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.recipes.views import Line

COMMAND = Command(
    name="recipe logs",
    summary="Print the journal of a run, one JSON line for each entry.",
    args=(
        RUN_ARG,
        PROJECT_ARG,
        Arg(
            name="follow",
            flags=("--follow", "-f"),
            type="bool",
            help="Go on until the run is over or waits for somebody.",
        ),
    ),
    payload=Line,
    output="stream",
    errors=RUN_ERRORS,
    examples=(("checkrein recipe logs r-1f0a --follow", "each step as it ends"),),
)


def run(run_id: str, project: str, follow: bool) -> Outcome:
    import time

    from checkrein.base.jsonl import encode_line
    from checkrein.cli import out
    from checkrein.serve.recipes.house import open_house

    require(project)
    with open_house(project) as house:
        id, told = house.desk.row(run_id).id, set[tuple[str, str]]()
        while True:
            goes_on = follow and house.desk.state(id) in ("queued", "running")
            for line in house.desk.lines(id):
                if (line.branch, line.name) not in told:
                    told.add((line.branch, line.name))
                    out.give_bytes(encode_line(line))
            if not goes_on:
                return Outcome()
            time.sleep(0.2)
