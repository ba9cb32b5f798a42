"""Hook scripts that work from one directory only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks, plugin_root
from checkrein.passes.checks.scripts import script_of


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        script = script_of(hook, subject.project)
        if script is None or not script.relative or hook.origin.scope == "user":
            continue
        variable = "${CLAUDE_PLUGIN_ROOT}" if hook.plugin else "$CLAUDE_PROJECT_DIR"
        root = plugin_root(subject.project, hook.plugin) or subject.project.place.root
        if not os.path.exists(os.path.join(root, script.word)):
            continue
        origin = field(hook, "command")
        path = script.word.removeprefix("./")
        fix = None
        if re.search(rf"(?:^|\s){re.escape(script.word)}(?=$|\s)", hook.command or "") and hook.args is None:
            title = f"Start the path with {variable}"
            fix = edits.swap(subject, origin, script.word, f'\\"{variable}\\"/{path}', title)
        message = f"`{script.word}` is relative to the current directory, which changes during a session"
        hint = f'Write `"{variable}"/{path}`.'
        yield Finding(origin=subject.find(origin, script.word), message=message, hint=hint, fix=fix)


CHECK = Check(
    code="HOOK012",
    name="script-path-relative",
    severity="warning",
    summary="A hook's script has a relative path.",
    why="Hooks run in the session's current directory. After a `cd`, or in a subdirectory, the shell does "
    "not find the script, and a hook that can't start blocks nothing.",
    hint='Start the path with `"$CLAUDE_PROJECT_DIR"`, in a plugin with `"${CLAUDE_PLUGIN_ROOT}"`.',
    bad={
        SETTINGS: hook_file(
            "PreToolUse", {"type": "command", "command": "bash .claude/hooks/guard.sh"}, "Bash"
        ),
        ".claude/hooks/guard.sh": "exit 0\n",
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
    fixable=True,
)
