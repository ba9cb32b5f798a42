"""Stop hooks that keep the session from ending."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks
from checkrein.passes.checks.scripts import program_text

_BLOCKS = re.compile(r"\bexit 2\b|exit\(2\)|[\"']block[\"']")


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.name not in ("Stop", "SubagentStop"):
            continue
        text = program_text(subject, hook)
        if text and _BLOCKS.search(text) and "stop_hook_active" not in text and "stopHookActive" not in text:
            message = f"The `{hook.name}` hook can block, but does not look at `stop_hook_active`"
            yield Finding(origin=field(hook, "command"), message=message)


CHECK = Check(
    code="HOOK016",
    name="stop-loop",
    severity="warning",
    summary="A Stop hook can block again and again.",
    why="Each block makes the model continue, and the hook runs again when it stops. You pay for up to eight "
    "rounds before Claude Code ends the loop.",
    hint="Let the hook exit 0 when `stop_hook_active` in its input is true.",
    bad={SETTINGS: hook_file("Stop", {"type": "command", "command": "make test >&2 || exit 2"})},
    good={
        SETTINGS: hook_file(
            "Stop",
            {"type": "command", "command": "grep -q '\"stop_hook_active\":true' || make test >&2 || exit 2"},
        )
    },
    run=run,
)
