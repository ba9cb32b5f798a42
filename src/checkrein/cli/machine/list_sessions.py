"""`checkrein machine list-sessions`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.sessions import Listed, list_sessions

COMMAND = args.verb(
    "list-sessions",
    "List the sessions of a project, newest first.",
    args=(
        args.DIRECTORY,
        args.PROJECT,
        Arg(name="every", flags=("--all",), type="bool", help="The sessions of all projects."),
        Arg(name="limit", flags=("--limit",), type="int", help="The most sessions to return; default: all."),
    ),
    payload=Listed,
    errors=("directory_invalid", "project_not_found", "session_load_failed"),
)


def run(directory: str | None, project: str, every: bool, limit: int | None) -> Outcome:
    most = None if limit is None else args.not_negative(limit, "--limit")
    listed, warnings = list_sessions(directory, project, every=every, limit=most)

    def text() -> str:
        rows = sorted(listed.sessions, key=lambda row: row.session_id)
        return (
            "\n".join(row.session_id + (" (suspect)" if row.suspect else "") for row in rows)
            or "(no sessions)"
        )

    return Outcome(data=listed, text=text, warnings=warnings)
