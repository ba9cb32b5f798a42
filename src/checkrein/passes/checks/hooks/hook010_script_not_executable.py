"""Hooks whose script is not executable."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks
from checkrein.passes.checks.scripts import script_of


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        script = script_of(hook, subject.project)
        if script is None or not script.direct or not os.path.isfile(script.path):
            continue
        if not os.access(script.path, os.X_OK):
            message = f"The script `{script.word}` of the `{hook.name}` hook is not executable"
            yield Finding(origin=subject.find(field(hook, "command"), script.word), message=message)


_HOOK = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'}

CHECK = Check(
    code="HOOK010",
    name="hook-script-not-executable",
    severity="error",
    summary="A hook runs a script that is not executable.",
    why="The shell answers `Permission denied`, which blocks nothing: the call it should judge goes through.",
    hint="Run `chmod +x` on it and commit the mode, or name the interpreter: `bash script.sh`.",
    bad={SETTINGS: hook_file("PreToolUse", _HOOK, "Bash"), ".claude/hooks/guard.sh": "#!/bin/sh\nexit 0\n"},
    good={SETTINGS: hook_file("PreToolUse", _HOOK, "Bash"), ".claude/hooks/guard.sh*": "#!/bin/sh\nexit 0\n"},
    run=run,
    dialects="all",
)
