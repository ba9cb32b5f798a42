"""`checkrein machine exec-command`."""

from __future__ import annotations

from typing import Any

from checkrein.base.errors import UsageError
from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.kinds import MODEL
from checkrein.protocol.machine.payloads import CommandRun

COMMAND = args.verb(
    "exec-command",
    "Expand a command or skill, and with --model run it in a session.",
    args=(
        Arg(name="name", required=True, help="Its name."),
        Arg(name="prompt", required=True, help="Its arguments; `-` reads them from standard input."),
        args.PROJECT,
        *args.MODEL_ARGS,
        args.DIRECTORY,
        *args.PERMISSIONS,
        args.TIMEOUT,
        args.GRACE,
    ),
    payload=CommandRun,
    errors=(
        "command_not_found",
        "project_not_found",
        "tool_not_found",
        "stdin_closed",
        "input_too_large",
        "needs_session",
        "needs_subagents",
        "skill_refused",
        "skill_not_found",
        "untrusted_origin",
        "prompt_refused",
        "directory_invalid",
        "session_write_failed",
        "timeout",
        "provider_unknown",
        *MODEL,
    ),
)


def run(
    name: str, prompt: str, timeout_seconds: float | None, grace_seconds: float, **values: Any
) -> Outcome:
    from checkrein.protocol.machine.execute import exec_command

    if values["model"] is None and values["directory"] is not None:
        message = "--directory has no effect without --model: there is no session to keep."
        raise UsageError(message, kind="invalid_flag_value").during("parse", "--directory")
    said = args.text_of(prompt, "prompt")
    done, warnings = exec_command(name, said, args.setup_of(values), timeout_seconds, grace_seconds)
    return Outcome(data=done, text=lambda: done.message, warnings=warnings)
