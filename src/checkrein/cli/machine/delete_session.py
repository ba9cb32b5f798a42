"""`checkrein machine delete-session`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.sessions import Deleted, delete_session

COMMAND = args.verb(
    "delete-session",
    "Delete a session; a session that does not exist is a success.",
    args=(args.SESSION_ID, args.DIRECTORY, args.PROJECT),
    payload=Deleted,
    errors=(
        "invalid_session_id",
        "directory_invalid",
        "project_not_found",
        "session_delete_failed",
        "session_write_failed",
        "session_linked",
        "session_ambiguous",
        "concurrent_modification",
    ),
)


def run(session_id: str, directory: str | None, project: str) -> Outcome:
    done = delete_session(session_id, directory, project)
    said = "deleted" if done.deleted else "not found"
    return Outcome(data=done, text=lambda: f"{said}: {session_id}")
