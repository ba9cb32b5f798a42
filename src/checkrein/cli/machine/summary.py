"""`checkrein machine summary`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.reports import Summary

COMMAND = args.verb(
    "summary",
    "Print the project at a glance, as Markdown.",
    args=(args.PROJECT, args.DIRECTORY),
    payload=Summary,
    errors=("project_not_found", "directory_invalid", "session_load_failed"),
)


def run(project: str, directory: str | None) -> Outcome:
    from checkrein.cli.machine import reports_text
    from checkrein.protocol.machine.project import load_project
    from checkrein.protocol.machine.reports import summary
    from checkrein.protocol.machine.sessions import count_sessions
    from checkrein.runtime.trust import status

    loaded = load_project(project)
    sessions, warnings = count_sessions(directory, project)
    found = summary(loaded, sessions, status(loaded).trusted)
    return Outcome(data=found, text=lambda: reports_text.summary(found), warnings=warnings)
