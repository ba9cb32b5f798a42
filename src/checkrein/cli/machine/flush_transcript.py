"""`checkrein machine flush-transcript`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.sessions import Flushed, flush_transcript

COMMAND = args.verb(
    "flush-transcript",
    "Add a prompt to a session and make the transcript durable, without a model.",
    args=(
        Arg(name="prompt", help="The prompt; `-` reads it from standard input; without it, only flush."),
        args.DIRECTORY,
        Arg(
            name="session_id",
            flags=("--session-id",),
            metavar="ID",
            help="The session to continue; a new id makes a new session.",
        ),
        args.PROJECT,
    ),
    payload=Flushed,
    errors=(
        "prompt_empty",
        "stdin_closed",
        "input_too_large",
        "invalid_session_id",
        "directory_invalid",
        "project_not_found",
        "session_not_found",
        "session_load_failed",
        "session_write_failed",
        "session_entry_too_large",
        "session_linked",
        "session_ambiguous",
        "concurrent_modification",
    ),
)


def run(prompt: str | None, directory: str | None, session_id: str | None, project: str) -> Outcome:
    said = None if prompt is None else args.text_of(prompt, "prompt")
    done, warnings = flush_transcript(said, session_id, directory, project)
    return Outcome(data=done, text=lambda: f"{done.path}\nflushed={done.flushed}", warnings=warnings)
