"""`checkrein sessions list`: the sessions of a project."""

from __future__ import annotations

from checkrein.base.errors import UsageError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.protocol.session_rows import Rows, list_rows

PROJECT = Arg(
    name="project", flags=("--project", "-C"), default=".", metavar="DIR", help="The project's directory."
)
EVERY = Arg(name="every", flags=("--all",), type="bool", help="The sessions of all projects.")
LIMIT = Arg(name="limit", flags=("--limit",), type="int", default=20, help="The most rows.")

COMMAND = Command(
    name="sessions list",
    summary="List the sessions of a project, newest first.",
    args=(PROJECT, EVERY, LIMIT),
    payload=Rows,
    errors=("project_not_found",),
    examples=(
        ("checkrein sessions list", "the sessions of this directory"),
        ("checkrein run --resume ID 'go on'", "continue one of them; the start of its id is enough"),
    ),
)


def run(project: str, every: bool, limit: int) -> Outcome:
    rows = list_rows(None if every else project, checked(limit))

    def text() -> str:
        from checkrein.cli.sessions_text import table

        return table(rows)

    return Outcome(data=rows, text=text)


def checked(limit: int) -> int:
    if limit < 0:
        raise UsageError("--limit is 0 or more.")
    return limit
