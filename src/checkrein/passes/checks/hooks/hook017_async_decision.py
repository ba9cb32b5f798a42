"""Background hooks whose verdict nobody waits for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts import claude_hooks
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks
from checkrein.passes.checks.scripts import program_text

_DECIDES = re.compile(r"\bexit 2\b|exit\(2\)|permissionDecision|[\"']decision[\"']")


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        event = claude_hooks.HOOK_EVENTS.get(hook.name)
        if event is None or not event.blocks or not hook.run_async or hook.async_rewake:
            continue
        text = program_text(subject, hook)
        if text and _DECIDES.search(text):
            message = f"The `{hook.name}` hook decides, but runs in the background; its verdict is ignored"
            yield Finding(origin=field(hook, "async"), message=message)


CHECK = Check(
    code="HOOK017",
    name="async-decision",
    severity="error",
    summary="A hook with `async` tries to block.",
    why="Nothing waits for a hook in the background. Its exit status and its decision come too late and have "
    "no effect.",
    hint="Remove `async`.",
    bad={
        SETTINGS: hook_file(
            "PreToolUse", {"type": "command", "command": "grep -q rm && exit 2", "async": True}, "Bash"
        )
    },
    good={SETTINGS: hook_file("PreToolUse", {"type": "command", "command": "grep -q rm && exit 2"}, "Bash")},
    run=run,
)
