"""Commands in the background: their start and their end as events, TaskOutput and TaskStop."""

from __future__ import annotations

import os
import time
from typing import Any

from checkrein.runtime.process.spawner import Running
from checkrein.runtime.session.events import BackgroundEnded, BackgroundStarted
from checkrein.runtime.tools.bash_output import excerpt, inline_limit, stopped, text_of
from checkrein.runtime.tools.desk import Shell
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput

_DEFAULT_WAIT_MS = 30_000
_LONGEST_WAIT_MS = 600_000
_READ = 1 << 20
_TICK = 0.05
_KILLED = 2.0


def added(command: str, input: dict[str, Any], context: ToolContext, running: Running) -> Shell:
    """Remember a command that continues in the background, and say so."""
    shell = context.state.add_shell(context.call_id, command, input.get("description") or "", running)
    context.emit(BackgroundStarted(shell.id, shell.call_id, shell.words))
    return shell


def end_of(shell: Shell) -> BackgroundEnded:
    """The event for the end of a command that no longer runs."""
    status = shell.status
    assert status != "running"
    code = "" if status == "killed" else f", exit code {shell.running.exit_code}"
    return BackgroundEnded(
        id=shell.id,
        call_id=shell.call_id,
        status=status,
        summary=f"The background command {shell.id} ({shell.words}) has ended: {status}{code}.",
        path=shell.path,
        duration_ms=int((time.monotonic() - shell.began) * 1000),
    )


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
    if ended:
        _report(shell, context)
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
    if shell.running.wait(_KILLED) is not None:
        _report(shell, context)
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


def _report(shell: Shell, context: ToolContext) -> None:
    """The model learns of the end by this call; everybody else by the event."""
    with context.state.lock:
        told, shell.reported = shell.reported, True
    if not told:
        context.emit(end_of(shell))


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
