"""`checkrein run`: an agent that works on the project, through the gate."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.run_args import RUN_ARGS

if TYPE_CHECKING:
    from checkrein.cli.run_output import Screen
    from checkrein.runtime.session.session import Prompt, Session

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
        ("checkrein run --continue 'now add a test'", "go on with the last session"),
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

        run_output.refuse(values, error)
        return Outcome(status=error.exit_status)


def _run(values: dict[str, Any]) -> Outcome:
    from checkrein.cli import run_input, run_output
    from checkrein.cli.run_options import project_of, session_options
    from checkrein.cli.signals import interrupting
    from checkrein.runtime.session.session import Session

    streaming = values["input_format"] == "stream-json"
    if streaming and values["output_format"] != "stream-json":
        raise UsageError("--input-format stream-json needs --output-format stream-json.")
    prompts = run_input.stream() if streaming else iter([run_input.prompt(values["prompt"])])
    headless = values["print_"] or streaming or values["output_format"] != "text"
    screen = run_output.make(values, headless)
    at_terminal = not headless and sys.stdin is not None and sys.stdin.isatty()
    project, options = project_of(values), session_options(values)
    for path in values["add_dir"]:
        if not os.path.isdir(path):
            run_output.warn(f"--add-dir {path} is not a directory.")
    if options.mode == "bypassPermissions" and not options.sandbox and _is_root():
        run_output.warn("Nothing is asked and you are root: a command may do everything on this machine.")
    asker = run_output.terminal_asker() if at_terminal else None
    with interrupting() as signals:
        with Session(project, model=values["model"], options=options, asker=asker) as session:
            signals.attach(session.control)
            for prompt in signals.awaited(prompts):
                _play(session, prompt, screen)
        failed = session.result is not None and session.result.is_error
        return Outcome(status=signals.status or (1 if failed else 0))


def _play(session: Session, prompt: Prompt, screen: Screen) -> None:
    """Show the events of one prompt; the result is among them also when Ctrl-C cuts in."""
    from checkrein.base.ids import new_uuid
    from checkrein.runtime.session.events import Finished

    stream = session.run(prompt)
    ended = False
    try:
        for event in stream:
            screen.show(event)
            ended = isinstance(event, Finished)
    except KeyboardInterrupt:
        stream.close()
        if session.result is not None and not ended:
            screen.show(Finished(session.result, new_uuid()))


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
