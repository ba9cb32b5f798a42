"""`checkrein machine show-command`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.inventory import Shown

COMMAND = args.verb(
    "show-command",
    "Show one command or skill: its source and its purpose.",
    args=(Arg(name="name", required=True, help="Its name, in upper or lower case."), args.PROJECT),
    payload=Shown,
    errors=("command_not_found", "project_not_found"),
)


def run(name: str, project: str) -> Outcome:
    from checkrein.protocol.machine.inventory import show_command
    from checkrein.protocol.machine.project import load_project

    found = show_command(name, load_project(project))
    return Outcome(data=found, text=lambda: f"{found.name}\n{found.source_hint}\n{found.responsibility}")
