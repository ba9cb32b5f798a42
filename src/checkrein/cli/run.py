"""`checkrein run`: an agent that works on the project, through the gate."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.run_args import RUN_ARGS

if TYPE_CHECKING:
    from checkrein.protocol.stream_json import FrameOptions
    from checkrein.runtime.session.options import Options

COMMAND = Command(
    name="run",
    summary="Run an agent on the project; `checkrein -p PROMPT` prints only the result.",
    args=RUN_ARGS,
    output="stream",
    errors=("credentials_missing", "session_not_found", "schema_invalid", "prompt_missing"),
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
    if values.pop("as_json"):
        values["output_format"] = "json"
    try:
        return _run(values)
    except UsageError:
        raise
    except CheckreinError as error:
        if values["output_format"] == "text":
            raise
        from checkrein.cli import run_output
        from checkrein.protocol.run import refuse

        reason = f"{error.message} {error.hint}" if error.hint else error.message
        refuse(reason, values["session_id"])
        run_output.warn(reason)
        return Outcome(status=error.exit_status)


def _run(values: dict[str, Any]) -> Outcome:
    from checkrein.cli import run_input, run_output
    from checkrein.cli.run_options import project_of, session_options
    from checkrein.protocol.run import Job, run_prompt, run_stream, show_result

    streaming = values["input_format"] == "stream-json"
    if streaming and values["output_format"] != "stream-json":
        raise UsageError("--input-format stream-json needs --output-format stream-json.")
    prompt = None if streaming else run_input.prompt(values["prompt"])
    headless = values["print_"] or values["output_format"] != "text"
    project, options = project_of(values), session_options(values)
    _warn(values, options)
    at_terminal = not headless and sys.stdin is not None and sys.stdin.isatty()
    person = run_output.Terminal() if at_terminal else None
    job = Job(project=project, options=options, model=values["model"], asker=person, answerer=person)
    if values["output_format"] == "stream-json":
        return Outcome(status=run_stream(job, _frames(values), prompt))
    assert prompt is not None
    if values["output_format"] == "json":
        return Outcome(status=run_prompt(job, prompt, run_output.with_notes(show_result)))
    return Outcome(status=run_prompt(job, prompt, run_output.screen(headless)))


def _frames(values: dict[str, Any]) -> FrameOptions:
    from checkrein.protocol.stream_json import FrameOptions

    return FrameOptions(
        partial=values["partial"], hook_events=values["hook_events"], replay_user=values["replay_user"]
    )


def _warn(values: dict[str, Any], options: Options) -> None:
    from checkrein.cli import run_output

    for path in values["add_dir"]:
        if not os.path.isdir(path):
            run_output.warn(f"--add-dir {path} is not a directory.")
    if options.mode == "bypassPermissions" and not options.sandbox and _is_root():
        run_output.warn(
            "Checkrein asks nothing and you are root: a command can do everything on this machine."
        )


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
