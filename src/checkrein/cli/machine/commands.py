"""`checkrein machine commands`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.reports import Rows

COMMAND = args.verb(
    "commands",
    "List the commands and skills of a project.",
    args=(
        args.PROJECT,
        args.ROWS,
        args.QUERY,
        Arg(name="no_plugins", flags=("--no-plugin-commands",), type="bool", help="Leave out plugins."),
        Arg(name="no_skills", flags=("--no-skill-commands",), type="bool", help="Leave out skills."),
    ),
    payload=Rows,
    errors=("project_not_found",),
)


def run(project: str, limit: int, query: str | None, no_plugins: bool, no_skills: bool) -> Outcome:
    from checkrein.cli.machine import reports_text
    from checkrein.protocol.machine.project import load_project
    from checkrein.protocol.machine.reports import list_commands

    most = args.not_negative(limit, "--limit")
    found = list_commands(load_project(project), most, query, not no_plugins, not no_skills)
    return Outcome(data=found, text=lambda: reports_text.rows("Command", found))
