"""Guards that exit with 1, which blocks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks
from checkrein.passes.checks.scripts import program_text

_ONE = re.compile(r"(?<!\w)exit 1\b|sys\.exit\(1\)|process\.exit\(1\)")
_DECIDES = re.compile(
    r"\bexit 2\b|exit\(2\)|permissionDecision|[\"']decision[\"']|[\"']continue[\"']|exit \"?\$"
)


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.name not in ("PreToolUse", "UserPromptSubmit") or hook.run_async:
            continue
        text = program_text(subject, hook)
        if text and _ONE.search(text) and not _DECIDES.search(text):
            message = f"The `{hook.name}` hook exits with 1, which does not block"
            yield Finding(origin=field(hook, "command"), message=message)


CHECK = Check(
    code="HOOK019",
    name="exit-status-ignored",
    severity="warning",
    summary="A guard exits with 1 instead of 2.",
    why="Only exit status 2, or a decision in JSON, blocks. Any other status shows as an error, and the call "
    "goes through.",
    hint="Exit with 2 and say why on stderr.",
    bad={
        SETTINGS: hook_file(
            "PreToolUse", {"type": "command", "command": "grep -q 'rm -rf' && exit 1"}, "Bash"
        )
    },
    good={
        SETTINGS: hook_file(
            "PreToolUse", {"type": "command", "command": "grep -q 'rm -rf' && exit 2"}, "Bash"
        )
    },
    run=run,
)
