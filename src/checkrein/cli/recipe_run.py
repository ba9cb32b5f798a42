"""`checkrein recipe run`: execute a recipe, durably."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.recipe_target import RIGHTS_ARGS, RUN_ERRORS, RUN_EXITS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.recipes.views import RunView

COMMAND = Command(
    name="recipe run",
    summary="Execute a recipe: an engine walks its steps, and a run survives the death of its process.",
    args=(
        Arg(name="recipe", required=True, metavar="RECIPE", help="The name of a recipe, or its file."),
        PROJECT_ARG,
        Arg(
            name="inputs",
            flags=("--input", "-i"),
            multiple=True,
            metavar="NAME=VALUE",
            help="The value of an ingredient.",
        ),
        Arg(
            name="detach",
            flags=("--detach", "-d"),
            type="bool",
            help="Put the run into its queue, for a worker, and return.",
        ),
        Arg(name="queue", flags=("--queue",), default="default", help="The queue of the run."),
        Arg(
            name="priority",
            flags=("--priority",),
            type="int",
            default=100,
            help="A smaller number goes first; 1 or more.",
        ),
        Arg(
            name="enable_once",
            flags=("--enable-once",),
            type="bool",
            help="Switch on, for this run alone, the subsets and packs that it needs.",
        ),
        *RIGHTS_ARGS,
    ),
    payload=RunView,
    errors=(*RUN_ERRORS, "recipe_not_found", "recipe_invalid", "untrusted_origin"),
    exits=RUN_EXITS,
    examples=(
        ("checkrein recipe run implementation -i task='a feature'", "in this process, step by step"),
        ("checkrein recipe run audit --detach --priority 1", "for the next free worker"),
    ),
    details="""Steps run with the rights of the process that executes them: these flags here, those of
`checkrein recipe worker` for a detached run. Ctrl-C hands it over: `checkrein recipe resume` goes on.""",
)


class Given(Struct, frozen=True, kw_only=True):
    recipe: str
    project: str
    inputs: tuple[str, ...]
    detach: bool
    queue: str
    priority: int
    enable_once: bool
    permission_mode: str | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    trust: bool


def run(given: Given) -> Outcome:
    import os

    from checkrein.base.errors import UsageError
    from checkrein.cli import out
    from checkrein.cli.recipe_shelf import inputs_of
    from checkrein.cli.recipe_target import rights
    from checkrein.cli.recipe_text import Progress, tree
    from checkrein.serve.recipes.house import Ask, open_house
    from checkrein.serve.recipes.project_recipes import Enabling, plan_of

    require(given.project)
    if given.priority < 1:
        raise UsageError("--priority is a number from 1 on.")
    enabling = Enabling(once=given.enable_once)
    plan = plan_of(given.recipe, given.project, inputs_of(given.inputs), enabling)
    ask = Ask(queue=given.queue, priority=given.priority)
    cwd = os.path.realpath(given.project)
    with open_house(cwd) as house:
        if given.detach:
            view = house.desk.view(house.add(plan, cwd, ask))
        else:
            options = rights(given.permission_mode, given.allow, given.deny, given.trust)
            names: list[str] = []
            try:
                view = house.run_here(plan, cwd, ask, options, Progress(), names.append)
            except KeyboardInterrupt:
                for name in names:
                    out.say(f"The run is handed over: checkrein recipe resume {name}", err=True)
                raise
    return Outcome(data=view, text=lambda: tree(view), status=view.exit_status)
