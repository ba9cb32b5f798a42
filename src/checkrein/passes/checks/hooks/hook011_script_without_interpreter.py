"""Hooks whose script does not name its interpreter."""

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
        if (
            os.access(script.path, os.X_OK)
            and _is_text(script.path)
            and subject.text(script.path)[:2] != "#!"
        ):
            message = f"The script `{script.word}` of the `{hook.name}` hook has no `#!` line"
            yield Finding(origin=subject.find(field(hook, "command"), script.word), message=message)


def _is_text(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"\0" not in file.read(1024)
    except OSError:
        return False


_HOOK = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'}

CHECK = Check(
    code="HOOK011",
    name="script-without-interpreter",
    severity="warning",
    summary="A hook's script is executable but has no `#!` line.",
    why="The caller decides which shell runs it; in exec form it does not start at all.",
    hint="Start the script with a line such as `#!/usr/bin/env bash`.",
    bad={SETTINGS: hook_file("PreToolUse", _HOOK, "Bash"), ".claude/hooks/guard.sh*": "exit 0\n"},
    good={SETTINGS: hook_file("PreToolUse", _HOOK, "Bash"), ".claude/hooks/guard.sh*": "#!/bin/sh\nexit 0\n"},
    run=run,
    dialects="all",
)
