"""`checkrein recipe worker`: take runs of recipes from their queues."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.recipe_target import RIGHTS_ARGS, RUN_ERRORS
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require

COMMAND = Command(
    name="recipe worker",
    summary="Execute queued runs, and those of workers that died, until it is stopped.",
    args=(PROJECT_ARG, *RIGHTS_ARGS),
    errors=RUN_ERRORS,
    exits=((0, "it was stopped"), (1, "an error"), (2, "wrong usage"), (75, "others have its runs")),
    examples=(("checkrein recipe worker --allow 'Bash(make *)'", "until Ctrl-C"),),
    details="""Workers of one user share the database in the Checkrein home; with `recipes.database` those of
many machines share a PostgreSQL database and nothing else. A worker that stops hands its runs over.""",
)


class Given(Struct, frozen=True, kw_only=True):
    project: str
    permission_mode: str | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    trust: bool


def run(given: Given) -> Outcome:
    import signal
    import threading

    from checkrein.cli.recipe_target import rights
    from checkrein.cli.recipe_text import Progress
    from checkrein.serve.recipes.house import open_house

    require(given.project)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    options = rights(given.permission_mode, given.allow, given.deny, given.trust)
    with open_house(given.project) as house:
        house.work(options, Progress(), stop)
    return Outcome()
