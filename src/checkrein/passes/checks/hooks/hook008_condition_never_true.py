"""`if` on events that have no tool call."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_hooks
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        event = claude_hooks.HOOK_EVENTS.get(hook.name)
        if event is not None and not event.tool_event and hook.condition:
            message = f"`if` on `{hook.name}` is never true, so the hook never runs"
            yield Finding(origin=field(hook, "if"), message=message)


CHECK = Check(
    code="HOOK008",
    name="condition-never-true",
    severity="error",
    summary="A hook has `if` on an event without a tool call.",
    why="`if` tests a tool call. Other events have none, and the hook never runs.",
    hint="Remove `if`, or use an event such as PreToolUse.",
    bad={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "if": "Bash(git *)"})},
    good={
        SETTINGS: hook_file("PreToolUse", {"type": "command", "command": "date", "if": "Bash(git *)"}, "Bash")
    },
    run=run,
)
