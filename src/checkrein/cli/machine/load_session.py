"""`checkrein machine load-session`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.sessions import Loaded, load_session

COMMAND = args.verb(
    "load-session",
    "Describe a session: messages, tokens, state, how it ended.",
    args=(args.SESSION_ID, args.DIRECTORY, args.PROJECT),
    payload=Loaded,
    errors=(
        "invalid_session_id",
        "directory_invalid",
        "project_not_found",
        "session_not_found",
        "session_load_failed",
        "session_linked",
        "session_ambiguous",
    ),
)


def run(session_id: str, directory: str | None, project: str) -> Outcome:
    found, warnings = load_session(session_id, directory, project)

    def text() -> str:
        tokens = f"in={found.input_tokens} out={found.output_tokens}"
        lines = [found.session_id, f"{found.messages_count} messages", tokens]
        if found.suspect is not None:
            lines.append(f"suspect: {found.suspect.get('reason', 'nobody acknowledged the end of a turn')}")
        return "\n".join(lines)

    return Outcome(data=found, text=text, warnings=warnings)
