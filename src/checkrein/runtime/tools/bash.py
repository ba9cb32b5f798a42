"""Bash: run a shell command.

`bash --noprofile --norc -c` gets the text unchanged, in an environment without anything that would change how
bash reads it. Only a command that may change the directory gets a trap in front, on the same line, which
reports the directory where it ended.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from checkrein.base.ids import is_safe_id, new_uuid
from checkrein.base.origin import BUNDLED, Origin
from checkrein.runtime.process.environment import shell_env
from checkrein.runtime.process.spawner import Command, Completed, Running
from checkrein.runtime.secrets.flow import Flow
from checkrein.runtime.tools import bash_output, shells
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput

if TYPE_CHECKING:
    from checkrein.runtime.process.sandbox.policy import SandboxPolicy
    from checkrein.runtime.tools.desk import Shell

_ORIGIN = Origin(BUNDLED, "bundled", None, "tools.Bash")
DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 600_000
_MOVES = re.compile(r"(?<![\w-])(?:cd|pushd|popd|eval|source)(?![\w-])|(?:^|[;&|({\s])\.\s")
_STOPPED_AT_TIMEOUT = re.compile(r"^\s*sleep\b|\bgit\b")


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    command: str = input["command"]
    env = _environment(command, context)
    may_go_on = stays_allowed(env)
    if input.get("run_in_background") and may_go_on:
        shell = start(input, context)
        said = f"The command runs in the background as {shell.id}. Its output goes to {shell.path}"
        return ToolOutput(content=said, structured=bash_output.structured("", background=shell.id))
    text = _with_hook_env(command, env)
    os.makedirs(context.results_dir, mode=0o700, exist_ok=True)
    timeout_ms = _timeout(input.get("timeout"), env)
    report: tuple[int, int] | None = None
    if context.state.keeps_cwd and _MOVES.search(command):
        report = os.pipe()
        text = f"trap 'pwd -P >&{report[1]} 2>/dev/null' EXIT; {text}"
    limit = bash_output.inline_limit(env)
    try:
        bound = _bound(
            context,
            Command(
                argv=text,
                cwd=_cwd(context),
                origin=_ORIGIN,
                purpose="Bash",
                env=env,
                timeout=timeout_ms / 1000,
                merge_stderr=True,
                limit=4 * limit,
                spill=_output_path(context),
                filter=Flow(context.cover),
                sandbox=_sandbox(input, context),
                pass_fds=(report[1],) if report else (),
            ),
        )
        done = context.spawner.run(
            bound,
            context.cancel,
            keep=may_go_on and not _STOPPED_AT_TIMEOUT.search(command),
            releasable=may_go_on,
        )
    finally:
        ended_in = _directory(report) if report else None
    if done.running is not None:
        return _moved(command, input, context, done, done.running, timeout_ms)
    notes = (*bash_output.stopped(done, context.root), _follow(ended_in, context))
    note = "\n".join(filter(None, notes))
    return bash_output.shape(command, done, context, limit, note, timeout_ms)


def completed(input: dict[str, Any], context: ToolContext, timeout: float | None, limit: int) -> Completed:
    """Run the command of a call for a program: both streams apart, `limit` bytes of each."""
    env = _environment(input["command"], context)
    command = Command(
        argv=_with_hook_env(input["command"], env),
        cwd=_cwd(context),
        origin=_ORIGIN,
        purpose="Bash",
        env=env,
        timeout=timeout,
        limit=limit,
        sandbox=_sandbox(input, context),
    )
    return context.spawner.run(_bound(context, command), context.cancel)


def _bound(context: ToolContext, command: Command) -> Command:
    return command if context.bind is None else context.bind(command)


def _sandbox(input: dict[str, Any], context: ToolContext) -> SandboxPolicy | None:
    """The sandbox of the command. None only if the gate asked the user for exactly that."""
    return None if context.outside is not None and context.outside(input) else context.sandbox


def _cwd(context: ToolContext) -> str:
    """The session's directory; its first one when that no longer exists."""
    if not os.path.isdir(context.cwd) and os.path.isdir(context.state.roots[0]):
        context.state.cwd = context.state.roots[0]
        return context.state.cwd
    return context.cwd


def stays_allowed(env: dict[str, str]) -> bool:
    """Whether commands may continue in the background."""
    return env.get("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") not in ("1", "true")


def _with_hook_env(command: str, env: dict[str, str]) -> str:
    return f'. "$CLAUDE_ENV_FILE" 2>/dev/null; {command}' if env.get("CLAUDE_ENV_FILE") else command


def _environment(command: str, context: ToolContext) -> dict[str, str]:
    if "\0" in command:
        raise ToolFailure("The command holds a NUL character.")
    env = shell_env(context.env)
    if context.only_asks_git is not None and context.only_asks_git(command):
        from checkrein.runtime.process.git import quiet_env

        env = quiet_env(env, _cwd(context), context.spawner, context.cancel)
    env["CLAUDECODE"] = "1"
    env["CLAUDE_CODE_SESSION_ID"] = context.session_id
    return env


def start(
    input: dict[str, Any], context: ToolContext, timeout: float | None = None, tool: str = "Bash"
) -> Shell:
    """Start the command of a call in the background, for so many seconds at most."""
    env = _environment(input["command"], context)
    os.makedirs(context.results_dir, mode=0o700, exist_ok=True)
    bound = _bound(
        context,
        Command(
            argv=_with_hook_env(input["command"], env),
            cwd=_cwd(context),
            origin=_ORIGIN,
            purpose=f"{tool} in the background",
            env=env,
            timeout=timeout,
            merge_stderr=True,
            limit=0,
            spill=_output_path(context),
            filter=Flow(context.cover),
            sandbox=_sandbox(input, context),
        ),
    )
    return shells.added(input["command"], input, context, context.spawner.start(bound))


def _moved(
    command: str,
    input: dict[str, Any],
    context: ToolContext,
    done: Completed,
    running: Running,
    timeout_ms: int,
) -> ToolOutput:
    """The time limit passed, or the user wants it so: the command continues in the background."""
    shell = shells.added(command, input, context, running)
    so_far = context.cover.text(bash_output.text_of(done.stdout))
    structured = bash_output.structured(so_far, background=shell.id)
    text = f"The user sent the command to the background, where it continues as {shell.id}. "
    if done.timed_out:
        lasted = bash_output.seconds(timeout_ms)
        text = f"The command still runs after {lasted} and continues in the background as {shell.id}. "
        structured |= {"timedOutAfterMs": timeout_ms}
    text += f"Its output goes to {shell.path}"
    excerpt = bash_output.excerpt(so_far, bash_output.FAILURE_LIMIT, shell.path)
    return ToolOutput(content=f"{excerpt}\n{text}" if excerpt else text, structured=structured)


def _timeout(asked: int | None, env: dict[str, str]) -> int:
    default = bash_output.number(env.get("BASH_DEFAULT_TIMEOUT_MS")) or DEFAULT_TIMEOUT_MS
    ceiling = max(bash_output.number(env.get("BASH_MAX_TIMEOUT_MS")) or MAX_TIMEOUT_MS, default)
    return min(asked if asked and asked > 0 else default, ceiling)


def _output_path(context: ToolContext) -> str:
    name = context.call_id if is_safe_id(context.call_id) else new_uuid()
    path = os.path.join(context.results_dir, f"{name}.output")
    return path if not os.path.lexists(path) else os.path.join(context.results_dir, f"{new_uuid()}.output")


def _directory(report: tuple[int, int]) -> str | None:
    """The directory where the command ended, as its trap reported it."""
    reading, writing = report
    os.close(writing)
    os.set_blocking(reading, False)
    try:
        told = os.read(reading, 8192)
    except BlockingIOError:
        told = b""
    finally:
        os.close(reading)
    return os.fsdecode(told).removesuffix("\n") if told.startswith(b"/") else None


def _follow(ended_in: str | None, context: ToolContext) -> str:
    state = context.state
    if ended_in is None or ended_in == state.cwd or state.set_cwd(ended_in):
        return ""
    state.cwd = state.roots[0]
    return f"Shell cwd was reset to {state.cwd}"
