"""Handlers of a type that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_hooks
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.type in claude_hooks.HANDLERS:
            continue
        shown = f"`type: {hook.type}`" if hook.type else "no `type`"
        message = f"A handler of `{hook.name}` has {shown}; the types are {', '.join(claude_hooks.HANDLERS)}"
        yield Finding(origin=field(hook, "type"), message=message)


CHECK = Check(
    code="HOOK002",
    name="handler-unknown",
    severity="error",
    summary="A hook's handler has a type that does not exist.",
    why="Claude Code skips the entry; the hook never runs.",
    hint="Use command, http, mcp_tool, prompt or agent.",
    bad={SETTINGS: hook_file("Stop", {"type": "script", "command": "date"})},
    good={SETTINGS: hook_file("Stop", {"type": "command", "command": "date"})},
    run=run,
)
