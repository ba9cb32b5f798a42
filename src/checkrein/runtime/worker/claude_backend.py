"""The real `claude` as a backend. Permissions are never skipped: the project's deny and ask rules go in as
settings, and a PreToolUse hook asks `checkrein decide` about every call. Without the hook's word nothing is
allowed that `claude` itself would ask about, and there is nobody to ask.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from checkrein.base.errors import NotFoundError, PolicyError
from checkrein.base.origin import BUNDLED, Origin
from checkrein.facts.tools import PATH_FAMILIES
from checkrein.llm.cancel import Cancel
from checkrein.model.project import Project
from checkrein.model.rule import Rule
from checkrein.model.view import View
from checkrein.passes.visibility.bundled_skills import PLUGIN
from checkrein.runtime.process.spawner import Command, Pipes, Spawner
from checkrein.runtime.skills.claude_session import overrides
from checkrein.runtime.skills.launch_dirs import AddDir, PluginDir
from checkrein.runtime.skills.session_dirs import choose_root, session_dir, sweep
from checkrein.runtime.worker.backend import Assignment, Heart
from checkrein.runtime.worker.claude_frames import Frames
from checkrein.runtime.worker.session_report import Report

_ORIGIN = Origin(BUNDLED, "bundled", None, "worker")
_TICK = 0.1
_LONGEST_LINE = 16 << 20
_KILLED = (137, 143)


class ClaudeBackend:
    """`program` is the command to start; only its user names it, never a project. `spawner` makes the one
    place that starts processes; its children get the credentials that the assignment holds."""

    name = "claude"

    def __init__(
        self,
        program: tuple[str, ...] = ("claude",),
        *,
        exit_grace: float = 3.0,
        spawner: Callable[[], Spawner] = lambda: Spawner(lambda _: True, frozenset()),
    ) -> None:
        self._program = program
        self._grace = exit_grace
        self._spawner = spawner

    def work(self, assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        require_trust(assignment.view.project)
        frames = Frames(beat)
        skills = choose_root(assignment.env)
        sweep(skills)
        with (
            tempfile.TemporaryDirectory(prefix="checkrein-worker-") as place,
            session_dir(assignment.view, f"worker-{os.urandom(6).hex()}", skills) as extra,
            self._spawner() as spawner,
        ):
            settings = os.path.join(place, "settings.json")
            with open(settings, "x", encoding="utf-8") as file:
                json.dump(settings_of(assignment.view, assignment.cwd), file)
            command = Command(
                argv=argv(self._program, assignment, settings, extra),
                cwd=assignment.cwd,
                origin=_ORIGIN,
                purpose="claude",
                env=assignment.env,
                longest_line=_LONGEST_LINE,
            )
            return self._followed(command, spawner, assignment, cancel, frames)

    def _followed(
        self, command: Command, spawner: Spawner, assignment: Assignment, cancel: Cancel, frames: Frames
    ) -> Report:
        try:
            pipes = spawner.open(command)
        except OSError as error:
            raise NotFoundError(
                f"{self._program[0]} could not be started: {error.strerror or error}.",
                kind="backend_not_found",
                hint="Install Claude Code, or use the backend checkrein.",
            ) from error
        trouble = _talk(pipes, assignment, cancel, frames)
        over = frames.is_over
        code = pipes.close(self._grace if over and not cancel.cancelled else 0.0) or 0
        stderr = pipes.stderr.decode("utf-8", "replace")
        report = frames.report(code, stderr, assignment.marker)
        if trouble:
            report = replace(report, problem=trouble)
        if over and code in _KILLED:
            return replace(report, termination="completed", kill_reason="kill_after_completion")
        return report


def _talk(pipes: Pipes, assignment: Assignment, cancel: Cancel, frames: Frames) -> str:
    """Until the result, the end of the process or the cancel. Returns what went wrong on the way."""
    message = {"role": "user", "content": assignment.prompt}
    first = {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": ""}
    try:
        pipes.write(json.dumps(first).encode() + b"\n")
    except BrokenPipeError as error:
        return str(error)
    while not cancel.cancelled and not frames.is_over:
        try:
            line = pipes.read_line(_TICK)
        except TimeoutError:
            continue
        except OSError as error:
            return str(error)
        if not line:
            break
        frames.take(line)
    return ""


def argv(
    program: tuple[str, ...], assignment: Assignment, settings: str, extra: AddDir | None
) -> tuple[str, ...]:
    """The command line. The prompt goes through the standard input, where no other user reads it."""
    return (
        *program,
        "-p",
        *("--input-format", "stream-json"),
        *("--output-format", "stream-json"),
        "--verbose",
        *("--settings", settings),
        *("--permission-mode", "default"),
        *("--json-schema", json.dumps(assignment.schema)),
        *("--append-system-prompt", assignment.directives),
        *(("--model", assignment.model) if isinstance(assignment.model, str) else ()),
        *(("--resume", assignment.resume) if assignment.resume else ()),
        *PluginDir.at(PLUGIN).words,
        *(extra.words if extra is not None else ()),
    )


def settings_of(view: View, cwd: str) -> dict[str, Any]:
    """The project's deny and ask rules, no way around the questions, the hook that decides, and which skills
    stay hidden."""
    lists: dict[str, list[str]] = {"deny": [], "ask": []}
    for rule in view.project.rules:
        if rule.verdict in lists and rule.problem is None:
            lists[rule.verdict].append(_anchored(rule))
    python = (sys.executable, "-E", "-P")  # a checkrein.py of the project would be the judge without them
    hook = shlex.join((*python, "-m", "checkrein", "decide", "--hook", "-C", cwd))
    return {
        "permissions": {**lists, "defaultMode": "default", "disableBypassPermissionsMode": "disable"},
        "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": hook}]}]},
        "skillOverrides": overrides(view),
    }


def _anchored(rule: Rule) -> str:
    """A path rule that is relative to its file, as an absolute one: these settings lie elsewhere."""
    spec = rule.specifier
    relative = spec is not None and spec.startswith("/") and not spec.startswith("//")
    if rule.tool in PATH_FAMILIES and relative and rule.anchor:
        return f"{rule.tool}(/{rule.anchor}{spec})"
    return rule.text


def require_trust(project: Project) -> None:
    """`claude` runs the hooks and servers of a project without a question when nobody is there."""
    from checkrein.runtime.trust import standing

    status = standing(project)
    if not status.trusted:
        raise PolicyError(
            f"claude was not started: {project.place.root} is not trusted.",
            kind="untrusted_origin",
            hint="Look at the project, then run `checkrein trust` in it.",
        )
