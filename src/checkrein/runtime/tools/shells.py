"""TaskOutput and TaskStop: commands in the background."""

from __future__ import annotations

import os
import time
from typing import Any

from checkrein.runtime.tools.bash_output import excerpt, inline_limit, stopped, text_of
from checkrein.runtime.tools.desk import Shell
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput

_DEFAULT_WAIT_MS = 30_000
_LONGEST_WAIT_MS = 600_000
_READ = 1 << 20
_TICK = 0.05


def output(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    """A shell's output since the last call. Waits for its end unless `block` is false."""
    shell = _shell(input, context)
    timed_out = False
    if input.get("block") is not False:
        asked = input.get("timeout")
        timed_out = not _wait(
            shell, min(_DEFAULT_WAIT_MS if asked is None else asked, _LONGEST_WAIT_MS), context
        )
    text = _news(shell, context)
    status, code = shell.status, shell.running.exit_code
    ended = status != "running"
    with context.state.lock:
        shell.reported = shell.reported or ended
    head = f"{shell.id}: {status}" + (f", exit code {code}" if ended else "")
    refused = tuple(stopped(shell.running, context.root))
    note = "\n".join((*refused, *(("It is still running.",) if timed_out and not ended else ())))
    body = text or ("(no new output)" if shell.told else "(no output)")
    task = {
        "task_id": shell.id,
        "task_type": "local_bash",
        "status": status,
        "description": shell.description or shell.command,
        "output": text,
        "exitCode": code,
    }
    return ToolOutput(
        content="\n".join(part for part in (head, body, note) if part),
        structured={"retrieval_status": "timeout" if timed_out else "success", "task": task},
    )


def stop(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    shell = _shell(input, context)
    if shell.status != "running":
        raise ToolFailure(f"{shell.id} is not running: {shell.status}.")
    shell.running.kill()
    with context.state.lock:
        shell.reported = True
    message = f"{shell.id} has been stopped ({shell.command})"
    return ToolOutput(
        content=message,
        structured={
            "message": message,
            "task_id": shell.id,
            "task_type": "local_bash",
            "command": shell.command,
        },
    )


def _shell(input: dict[str, Any], context: ToolContext) -> Shell:
    """The shell that the input names, by the documented field or a former one."""
    name = input.get("task_id") or input.get("shell_id") or input.get("bash_id")
    if not name:
        raise ToolFailure("Set task_id to the id of the command.")
    shell = context.state.shells.get(name)
    if shell is None:
        known = ", ".join(context.state.shells) or "none"
        raise ToolFailure(f"There is no background command {name}. Known commands: {known}.")
    return shell


def _wait(shell: Shell, milliseconds: int, context: ToolContext) -> bool:
    until = time.monotonic() + max(milliseconds, 0) / 1000
    while shell.running.wait(min(_TICK, max(0.0, until - time.monotonic()))) is None:
        if context.cancel.cancelled or time.monotonic() >= until:
            return False
    return True


def _news(shell: Shell, context: ToolContext) -> str:
    try:
        with open(shell.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = max(shell.told, size - _READ)
            file.seek(start)
            data = file.read(_READ)
    except OSError as error:
        raise ToolFailure(f"The output of {shell.id} can't be read: {error.strerror}") from None
    skipped = start - shell.told
    shell.told = start + len(data)
    text = excerpt(text_of(data), inline_limit(context.env), shell.path)
    return f"[{skipped} bytes before this are in {shell.path}]\n{text}" if skipped > 0 else text
