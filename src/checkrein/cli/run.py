"""`checkrein run`: an agent that works on the project, through the gate."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import CheckreinError, FileError, UsageError
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.run_args import RUN_ARGS
from checkrein.cli.run_ground import place, warnings

if TYPE_CHECKING:
    from checkrein.protocol.debug_log import DebugLog
    from checkrein.protocol.last_words import LastWords
    from checkrein.protocol.stream_json import FrameOptions

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY")

COMMAND = Command(
    name="run",
    summary="Run an agent on the project; `checkrein -p PROMPT` prints only the result.",
    args=RUN_ARGS,
    output="stream",
    errors=(
        "credentials_missing",
        "session_not_found",
        "schema_invalid",
        "prompt_missing",
        "worktree_name",
        "worktree_no_repository",
        "worktree_in_use",
    ),
    exits=(
        (0, "success"),
        (1, "the run failed or a limit was reached"),
        (2, "wrong usage"),
        (130, "interrupted"),
        (143, "ended by SIGTERM"),
    ),
    examples=(
        ("checkrein run 'fix the failing test'", "work on the project in this directory"),
        ("checkrein -p 'summarise README.md' --output-format json", "one result object"),
        ("checkrein run --continue 'now add a test'", "continue the last session"),
    ),
)


def run(**values: Any) -> Outcome:
    from checkrein.protocol.last_words import LastWords

    if values.pop("as_json"):
        values["output_format"] = "json"
    last = LastWords()
    try:
        return _run(values, last)
    except BrokenPipeError:
        raise
    except (CheckreinError, OSError) as error:
        failure = error if isinstance(error, CheckreinError) else _unusable(error)
        hosted = values["input_format"] == values["output_format"] == "stream-json"
        if values["output_format"] == "text" or last.told or (isinstance(error, UsageError) and not hosted):
            raise failure from error
        from checkrein.cli import run_output
        from checkrein.protocol.run import refuse

        reason = f"{failure.message} {failure.hint}" if failure.hint else failure.message
        refuse(reason, values["session_id"])
        run_output.warn(reason)
        return Outcome(status=failure.exit_status)
    except Exception as error:
        _told(error, values, last)
        raise


def _told(error: Exception, values: dict[str, Any], last: LastWords) -> None:
    """Give a run that a mistake of ours ended its result."""
    if values["output_format"] != "text" and not last.told:
        from checkrein.protocol.run import refuse

        refuse(f"{type(error).__name__}: {error}", values["session_id"])


def _unusable(error: OSError) -> FileError:
    """A directory or a disk that the run needs and can't use."""
    where = f"{error.filename}: " if error.filename else ""
    try:
        os.getcwd()
    except OSError:
        return FileError("The working directory no longer exists.", hint="Change to one that does.")
    return FileError(
        f"{where}{error.strerror or error}.",
        hint="Check the disk and the rights. CHECKREIN_HOME names another place for sessions.",
    )


def _run(values: dict[str, Any], last: LastWords) -> Outcome:
    from checkrein.cli import run_input, run_output
    from checkrein.protocol.run import Job, run_prompt, run_stream, show_result

    streaming = values["input_format"] == "stream-json"
    if streaming and values["output_format"] != "stream-json":
        raise UsageError("--input-format stream-json needs --output-format stream-json.")
    if streaming:
        from checkrein.cli.run_hosted import run_hosted

        return Outcome(status=run_hosted(values, last))
    if run_input.opens_screen(values):
        from checkrein.cli.screen.entrance import enter

        return Outcome(status=enter(values))
    prompt = run_input.prompt(values["prompt"])
    headless = values["print_"] or values["output_format"] != "text"
    with place(values) as (project, options):
        for text in warnings(values, options):
            run_output.warn(text)
        at_terminal = not headless and sys.stdin is not None and sys.stdin.isatty()
        person = run_output.Terminal(project.project.place) if at_terminal else None
        job = Job(
            project=project,
            options=options,
            model=values["model"],
            asker=person,
            answerer=person,
            last=last,
            tell=run_output.warn if headless else None,
            debug=debug_log(values),
        )
        if values["output_format"] == "stream-json":
            return Outcome(status=run_stream(job, frame_options(values), prompt))
        if values["output_format"] == "json":
            return Outcome(status=run_prompt(job, prompt, run_output.with_notes(show_result)))
        return Outcome(status=run_prompt(job, prompt, run_output.screen(headless)))


def debug_log(values: dict[str, Any]) -> DebugLog | None:
    """Where the run writes what happens, if anybody wants to know."""
    wanted: str | None = values["debug"]
    if wanted is None and values["debug_file"] is None and not values["debug_stderr"]:
        return None
    from checkrein.cli import out
    from checkrein.protocol.debug_log import DebugLog

    def say(line: str) -> None:
        out.say(line, err=True)

    return DebugLog(wanted or "", values["debug_file"], say if values["debug_stderr"] else None)


def frame_options(values: dict[str, Any], notes: tuple[str, ...] = ()) -> FrameOptions:
    from checkrein.protocol.stream_json import FrameOptions

    return FrameOptions(
        partial=values["partial"],
        hook_events=values["hook_events"],
        replay_user=values["replay_user"],
        subagent_text=values["subagent_text"],
        api_key_source=next((name for name in _KEYS if os.environ.get(name)), "none"),
        notes=notes,
    )
