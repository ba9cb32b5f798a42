"""Paths in hook commands that break at a blank."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks

_VARIABLE = re.compile(
    r"\$(?:\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT)\}|(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT)\b)[\w./-]*"
)


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.type != "command" or not hook.command or hook.args is not None:
            continue
        word = next(
            (match[0] for match in _VARIABLE.finditer(hook.command) if _is_bare(hook.command, match)), None
        )
        if word is None:
            continue
        origin = field(hook, "command")
        fix = edits.swap(subject, origin, word, f'\\"{word}\\"', "Put it in quotes")
        message = f"`{word}` is not quoted; a blank in the path splits it"
        hint = f'Write `"{word}"`.'
        yield Finding(origin=subject.find(origin, word), message=message, hint=hint, fix=fix)


def _is_bare(command: str, match: re.Match[str]) -> bool:
    """Only whole words outside quotes; a variable joined to other text does not count."""
    before = command[: match.start()]
    if before.count('"') % 2 or before.count("'") % 2:
        return False
    after = command[match.end() : match.end() + 1]
    return before[-1:] in ("", " ", "=") and after in ("", " ", ";")


CHECK = Check(
    code="HOOK018",
    name="path-unquoted",
    severity="info",
    summary="A path variable in a hook's command is not quoted.",
    why="If the folder's name holds a blank, the shell does not find the script. A hook that can't start "
    "blocks nothing.",
    hint="Put the path in quotes.",
    bad={
        SETTINGS: hook_file(
            "Stop", {"type": "command", "command": "bash $CLAUDE_PROJECT_DIR/.claude/hooks/note.sh"}
        ),
        ".claude/hooks/note.sh": "exit 0\n",
    },
    good={
        SETTINGS: hook_file(
            "Stop", {"type": "command", "command": 'bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/note.sh'}
        ),
        ".claude/hooks/note.sh": "exit 0\n",
    },
    run=run,
    fixable=True,
)
