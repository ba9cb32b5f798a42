"""Hooks whose script does not exist."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks, plugin_root
from checkrein.passes.checks.scripts import script_of


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        script = script_of(hook, subject.project)
        if script is None or script.exists or not _is_expected(script.path, subject, hook.plugin):
            continue
        message = f"The script `{script.word}` of the `{hook.name}` hook does not exist"
        yield Finding(origin=subject.find(field(hook, "command"), script.word), message=message)


def _is_expected(path: str, subject: Subject, plugin: str | None) -> bool:
    """Files of the project, its plugin or its home should exist; others may exist on another machine."""
    place = subject.project.place
    roots = (place.root, place.home, plugin_root(subject.project, plugin) or place.root)
    return any(path.startswith(root + os.sep) for root in roots)


CHECK = Check(
    code="HOOK009",
    name="hook-script-missing",
    severity="error",
    summary="A hook runs a script that does not exist.",
    why="A hook that can't start is an error that blocks nothing: the call it should judge goes through.",
    hint="Add the script or correct the path.",
    bad={
        SETTINGS: hook_file(
            "PreToolUse",
            {"type": "command", "command": 'bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'},
            "Bash",
        )
    },
    good={
        SETTINGS: hook_file(
            "PreToolUse",
            {"type": "command", "command": 'bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'},
            "Bash",
        ),
        ".claude/hooks/guard.sh": "exit 0\n",
    },
    run=run,
    dialects="all",
)
